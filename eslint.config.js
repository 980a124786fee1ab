// What is wrong in a script whatever its style. What the pages and their tests use of the browser is named here.
const BROWSER = `addEventListener clearTimeout crypto CSS CustomEvent devicePixelRatio dispatchEvent document DOMException DOMPoint Element fetch FormData
  globalThis history Image innerHeight innerWidth localStorage location matchMedia reportError requestAnimationFrame scrollTo scrollX scrollY sessionStorage setTimeout
  structuredClone URLSearchParams`;

export default [
  { ignores: ["**/*.min.js", "build/", "out/", ".venv*/"] },
  {
    files: ["proof/**/*.js", "tests/**/*.js"],
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: "module",
      globals: Object.fromEntries(BROWSER.split(/\s+/).map((name) => [name, "readonly"])),
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: Object.fromEntries(
      [
        "array-callback-return", "constructor-super", "eqeqeq", "for-direction", "getter-return", "no-async-promise-executor",
        "no-class-assign", "no-compare-neg-zero", "no-const-assign", "no-constant-binary-expression", "no-constant-condition",
        "no-debugger", "no-dupe-args", "no-dupe-class-members", "no-dupe-else-if", "no-dupe-keys", "no-duplicate-case",
        "no-duplicate-imports", "no-eval", "no-fallthrough", "no-func-assign", "no-implicit-globals", "no-import-assign",
        "no-invalid-regexp", "no-irregular-whitespace", "no-loss-of-precision", "no-new-native-nonconstructor", "no-redeclare",
        "no-self-assign", "no-self-compare", "no-shadow-restricted-names", "no-sparse-arrays", "no-this-before-super",
        "no-undef", "no-unmodified-loop-condition", "no-unreachable", "no-unreachable-loop", "no-unsafe-finally",
        "no-unsafe-negation", "no-unsafe-optional-chaining", "no-unused-private-class-members", "no-unused-vars",
        "no-useless-backreference", "no-var", "prefer-const", "require-yield", "use-isnan", "valid-typeof",
      ].map((rule) => [rule, "error"]),
    ),
  },
];
