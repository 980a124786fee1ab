"""`config.toml` as typed settings, and errors in it with their lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import ConfigError, UsageError
from proof.settings.config import SETTINGS, Settings
from proof.text.witness_source import WitnessSource

Write = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a project."""
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def write(folder: Path) -> Write:
    """A function that writes a `config.toml` to the project folder and returns its path."""

    def written(text: str) -> Path:
        path = folder / "config.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def problems(path: Path) -> list[str]:
    """The reported errors of the file, without its path: `line: error`."""
    with pytest.raises(ConfigError) as caught:
        Settings.load(path)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}:") for line in lines)
    return [line.removeprefix(f"{path}:") for line in lines]


# --- what is read -----------------------------------------------------------------------------------------


def test_the_siku_half_folio_is_the_default() -> None:
    settings = Settings()
    assert (settings.page.columns, settings.page.column_length, settings.page.script) == (8, 21, "auto")
    assert (settings.engine.name, settings.engine.threads, settings.engine.workers) == ("ppocr", 1, 2)
    assert settings.flags.show_variants is False
    assert settings.folder is None
    assert settings.replace({"engine.workers": 3}).workers == 3
    assert settings.replace({"engine.workers": 0}).workers >= 1


def test_settings_are_read_from_sections_dotted_keys_and_inline_tables(write: Write, folder: Path) -> None:
    assert Settings.load(write("")) == Settings(file=folder / "config.toml").replace({"project.out": folder / "out"})
    sections = '[page]\ncolumns = 9\nscript = "simplified"\n[flags]\nthreshold = 2\nshow_variants = true\n'
    settings = Settings.load(write(sections))
    assert (settings.page.columns, settings.page.script) == (9, "simplified")
    assert (settings.flags.threshold, settings.flags.show_variants) == (2.0, True)
    assert settings["page.columns"] == 9
    dotted = Settings.load(write("page.columns = 9\nengine = {threads = 4}\n"))
    assert (dotted.page.columns, dotted.engine.threads) == (9, 4)
    assert Settings.load(folder) == dotted


def test_paths_are_relative_to_the_folder_of_the_file(
    write: Write, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        '[project]\ntexts = ["t/*.txt"]\nimages = ["scans", "../more"]\nimglist = "lists"\nout = "../results"\n'
        f'[store]\nurl = "sqlite:///db/a.sqlite"\n[render]\nfont = "{tmp_path.as_posix()}/kai.ttf"\n'
    )
    monkeypatch.chdir(tmp_path)
    settings = Settings.load(Path("project/config.toml"))
    assert settings.folder == folder
    assert settings.project.texts == (folder / "t/*.txt",)
    assert settings.project.images == (folder / "scans", tmp_path / "more")
    assert settings.project.imglist == folder / "lists"
    assert settings.project.out == tmp_path / "results"
    assert settings.store_address == f"sqlite:///{folder.as_posix()}/db/a.sqlite"
    assert settings.render.font == f"{tmp_path.as_posix()}/kai.ttf"


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[page]\n\ncolums = 9\n", "3: [page] has no setting colums; did you mean columns?"),
        ("[page]\nthreads = 2\n", "2: [page] has no setting threads; it belongs in [engine]"),
        ("# x\n[engin]\nthreads = 2\n", "2: there is no section [engin]; did you mean [engine]?"),
        ("columns = 9\n", "1: columns is in no section; did you mean columns in [page]?"),
        ("xyzzy = 9\n", "1: xyzzy is in no section"),
        ('page = "x"\n', "1: page must be a section: write [page] and its settings below it"),
        ('[page]\ncolumns = "8"\n', '2: page.columns must be a whole number, not "8"'),
        ("[page]\ncolumns = 8.0\n", "2: page.columns must be a whole number, not 8"),
        ("[page]\ncolumns = true\n", "2: page.columns must be a whole number, not true"),
        ("[page]\ncolumns = -1\n", "2: page.columns must be from 0 to 60, not -1"),
        ("[page.column_length]\na = 1\n", "1: page.column_length must be a whole number, not a section"),
        ("[flags]\nthreshold = true\n", "2: flags.threshold must be a number, not true"),
        ("[flags]\nthreshold = nan\n", "2: flags.threshold must be from -1000 to 1000, not nan"),
        ("[flags]\nshow_variants = 1\n", "2: flags.show_variants must be true or false, not 1"),
        (
            '[page]\nscript = "simplifed"\n',
            '2: page.script must be auto or traditional or simplified, not "simplifed"; did you mean simplified?',
        ),
        ("[images]\nmax_megapixels = 1000\n", "2: images.max_megapixels must be from 0.1 to 178, not 1000"),
        ('[project]\ntexts = "a.txt"\n', '2: project.texts must be a list of paths, not "a.txt"'),
        ('[project]\nimages = ["a", 1]\n', "2: project.images must be a list of paths, and 1 is not one"),
        ('[project]\nimages = [""]\n', '2: project.images must be a list of paths, and "" is not one'),
        ('[project]\nimages = ["a\\u0000"]\n', '2: project.images: "a\\u0000" has a NUL character: delete it'),
        ('[project]\nout = ""\n', "2: project.out must name a path, not be empty"),
        ("[project]\ntitle = 2020-01-01\n", '2: project.title must be text, not "2020-01-01"'),
    ],
)
def test_an_error_is_reported_with_its_line_and_the_nearest_valid_name(write: Write, text: str, message: str) -> None:
    assert problems(write(text)) == [message]


def test_all_errors_are_reported_at_once(write: Write, tmp_path: Path) -> None:
    messages = problems(write("[page]\ncolums = 9\ncolumn_length = 0\n\n[engine]\nname = 'ppcor'\n"))
    assert [line.partition(":")[0] for line in messages] == ["2", "3", "6"]
    assert messages[2].endswith("did you mean ppocr?")
    assert problems(write("[page]\ncolumn_length = \n"))[0].startswith("2: is not valid TOML")
    with pytest.raises(ConfigError, match="there is no such file"):
        Settings.load(tmp_path / "none.toml")


VALUES = ["1", "-1", "0", "1e400", "nan", '"x"', '""', '"~nobody/x"', '"a\\u0000b"', f'"{"x" * 5000}"']
OTHERS = ["true", "[]", "[1]", '[["x"]]', "{}", "07:32:00"]


@given(name=st.sampled_from(sorted(SETTINGS)), value=st.sampled_from(VALUES + OTHERS))
def test_any_value_is_accepted_or_reported_with_its_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "config.toml"
    path.write_text(f"[{SETTINGS[name].section}]\n{SETTINGS[name].key} = {value}\n", encoding="utf-8")
    try:
        settings = Settings.load(path)
    except ConfigError as error:
        message = str(error)
    else:
        message = f"{path}:2: {name}"
        assert SETTINGS[name].value(settings[name], path.parent) == settings[name]
    assert message.startswith(f"{path}:2: {name}")


# --- the command line over the file -----------------------------------------------------------------------


def test_values_on_the_command_line_override_the_file(write: Write) -> None:
    settings = Settings.load(write("[page]\ncolumns = 9\ncolumn_length = 20\n"))
    given = {"page.columns": 10, "page.column_length": None, "flags.threshold": "1.5", "flags.show_variants": "true"}
    changed = settings.replace(given)
    assert (changed.page.columns, changed.page.column_length) == (10, 20)
    assert (changed.flags.threshold, changed.flags.show_variants) == (1.5, True)
    assert changed.file == settings.file
    assert settings.page.columns == 9


def test_paths_on_the_command_line_are_relative_to_the_working_folder(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.load(write(""))
    monkeypatch.chdir(tmp_path)
    changed = settings.replace({"project.images": ["scans"], "project.texts": "o*.txt", "project.out": "o"})
    assert changed.project.images == (tmp_path / "scans",)
    assert changed.project.out == tmp_path / "o"
    touch(tmp_path, "other.txt")
    assert changed.text_files() == (tmp_path / "other.txt",), "a pattern may lie outside the project"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("page.colums", 9, r"\[page\] has no setting colums; did you mean columns\?"),
        ("page.columns", "nine", 'page.columns must be a whole number, not "nine"'),
        ("flags.show_variants", "maybe", "must be true or false"),
        ("columns", 9, "is in no section"),
        ("page.columns.x", 9, "has no setting columns.x"),
    ],
)
def test_an_error_on_the_command_line_is_a_usage_error(name: str, value: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Settings().replace({name: value})


# --- the texts of a project -------------------------------------------------------------------------------


def test_patterns_are_expanded_in_order_and_each_text_comes_once(tmp_path: Path) -> None:
    """Brackets in the name of a folder or file are not part of a pattern."""
    folder = tmp_path / "儀禮 [draft]"
    touch(folder, "a.txt", "b.txt", "卷十 [1].txt", ".hidden.txt", "juan/1/c.txt", "juan/d.txt", "juan/e.md")
    texts = '["卷十 [1].txt", "b.txt", "*.txt", "juan/**/*.txt"]'
    (folder / "config.toml").write_text(f"[project]\ntexts = {texts}\n", encoding="utf-8")
    files = [file.relative_to(folder).as_posix() for file in Settings.load(folder).text_files()]
    assert files == ["卷十 [1].txt", "b.txt", "a.txt", "juan/1/c.txt", "juan/d.txt"]


def test_witnesses_are_files_folders_and_branches_with_or_without_a_siglum(write: Write, folder: Path) -> None:
    named = '["四部=sbck/*.txt", "wyg", "汲=repo@SBCK", "one.txt", "*.md"]'
    settings = Settings.load(write(f"[project]\nwitnesses = {named}\n"))
    touch(folder, "sbck/1.txt", "sbck/2.txt", "wyg/1.txt", "one.txt", "a.md", "b.md")
    assert settings.witness_sources() == (
        WitnessSource(folder / "sbck/1.txt", "四部"),
        WitnessSource(folder / "sbck/2.txt", "四部"),
        WitnessSource(folder / "wyg"),
        WitnessSource(folder / "repo", "汲", "SBCK"),
        WitnessSource(folder / "one.txt"),
        WitnessSource(folder / "a.md"),
        WitnessSource(folder / "b.md"),
    )
    (folder / "one.txt").unlink()
    with pytest.raises(ConfigError, match=r"config\.toml:2: project\.witnesses: .*one\.txt: there is no such file"):
        settings.witness_sources()


def test_a_pattern_without_a_file_is_named_with_its_line(write: Write, folder: Path) -> None:
    path = write('[project]\ntitle = "x"\ntexts = ["none*.txt"]\n')
    with pytest.raises(ConfigError, match=r"config\.toml:3: project\.texts: .*none\*\.txt: matches no file"):
        Settings.load(path).text_files()
    with pytest.raises(ConfigError, match="project: a folder; name its files"):
        Settings().replace({"project.texts": [folder]}).text_files()


# --- the fingerprint --------------------------------------------------------------------------------------

NO_RESULT = {
    "engine.threads": 8,
    "engine.workers": 8,
    "engine.second": "paddleocr",
    "engine.second_model": "x",
    "project.out": "elsewhere",
    "project.title": "x",
    "project.images": ["x"],
    "report.lang": "zh-Hant",
    "store.url": "sqlite:///other.sqlite",
    "render.seed": 7,
    "flags.threshold": 0.7,
    "flags.show_variants": True,
}
RESULT = {"page.columns": 9, "page.column_length": 20, "page.script": "simplified", "engine.name": "paddleocr"}


def test_only_settings_that_change_results_change_the_fingerprint(write: Write, tmp_path: Path) -> None:
    plain = Settings().fingerprint()
    changing = {n for n, value in (NO_RESULT | RESULT).items() if Settings().replace({n: value}).fingerprint() != plain}
    assert changing == set(RESULT)
    (tmp_path / "moved.toml").write_text("[page]\ncolumns = 9\n", encoding="utf-8")
    moved = Settings.load(tmp_path / "moved.toml")
    assert moved.fingerprint() == Settings.load(write("[page]\ncolumns = 9\n")).fingerprint()


def test_a_missing_list_of_variants_is_reported(write: Write, folder: Path) -> None:
    path = write('[variants]\nfile = "pairs.tsv"\n')
    assert problems(path) == [f"2: variants.file: there is no file {folder / 'pairs.tsv'}"]
    touch(folder, "pairs.tsv")
    settings = Settings.load(path)
    assert settings.variants.file == folder / "pairs.tsv"
    (folder / "pairs.tsv").unlink()
    with pytest.raises(ConfigError, match=r"config\.toml:2: variants\.file: .*cannot be read"):
        settings.fingerprint()


# --- one declaration for all ------------------------------------------------------------------------------
