"""`config.toml` becomes typed settings, and whatever is wrong in it is named with its line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import ConfigError, UsageError
from proof.facsimile import wear
from proof.images import load
from proof.locale import languages
from proof.settings.config import SETTINGS, Settings
from proof.settings.setting import ValueKind
from proof.text.model import Script
from proof.text.witness_source import WitnessSource

ROOT = Path(__file__).resolve().parents[2]
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a `config.toml` into a project folder and gives its path."""

    def written(text: str) -> Path:
        path = tmp_path / "project" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return written


def problems(path: Path) -> list[str]:
    """What is said about the file, without its path: `line: what`."""
    with pytest.raises(ConfigError) as caught:
        Settings.load(path)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}:") for line in lines)
    return [line.removeprefix(f"{path}:") for line in lines]


# --- what is read -----------------------------------------------------------------------------------------


def test_the_siku_half_folio_is_the_default() -> None:
    settings = Settings()
    assert (settings.page.columns, settings.page.rows, settings.page.script) == (8, 21, "auto")
    assert (settings.engine.name, settings.engine.threads, settings.engine.workers) == ("ppocr", 1, 2)
    assert settings.flags.show_variants is False
    assert settings.folder is None


def test_an_empty_file_gives_the_defaults_in_its_folder(write: Write) -> None:
    path = write("")
    settings = Settings.load(path)
    assert settings == Settings(file=path).replace({"project.out": path.parent / "out"})


def test_settings_are_read_from_their_sections(write: Write) -> None:
    settings = Settings.load(
        write('[page]\ncolumns = 9\nscript = "simplified"\n[flags]\nthreshold = 2\nshow_variants = true\n')
    )
    assert (settings.page.columns, settings.page.script) == (9, "simplified")
    assert (settings.flags.threshold, settings.flags.show_variants) == (2.0, True)
    assert settings["page.columns"] == 9


def test_dotted_keys_and_inline_tables_are_the_same_to_it(write: Write) -> None:
    dotted = Settings.load(write("page.columns = 9\nengine = {threads = 4}\n"))
    assert (dotted.page.columns, dotted.engine.threads) == (9, 4)


def test_a_folder_stands_for_the_file_in_it(write: Write) -> None:
    path = write("[page]\nrows = 20\n")
    assert Settings.load(path.parent) == Settings.load(path)


def test_paths_count_from_the_files_folder(write: Write, tmp_path: Path) -> None:
    settings = Settings.load(
        write(
            '[project]\ntexts = ["t/*.txt"]\nimages = ["scans", "../more"]\nimglist = "lists"\nout = "../results"\n'
            f'[store]\nurl = "sqlite:///db/a.sqlite"\n[render]\nfont = "{tmp_path.as_posix()}/kai.ttf"\n'
        )
    )
    folder = tmp_path / "project"
    assert settings.project.texts == (folder / "t/*.txt",)
    assert settings.project.images == (folder / "scans", tmp_path / "more")
    assert settings.project.imglist == folder / "lists"
    assert settings.project.out == tmp_path / "results"
    assert settings.store_address == f"sqlite:///{folder.as_posix()}/db/a.sqlite"
    assert settings.render.font == f"{tmp_path.as_posix()}/kai.ttf"


def test_a_file_named_from_another_folder_gives_paths_that_can_be_opened(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write('[project]\nimages = ["scans"]\n')
    monkeypatch.chdir(path.parent.parent)
    settings = Settings.load(Path("project/config.toml"))
    assert settings.project.images == (path.parent / "scans",)
    assert settings.folder == path.parent


def test_a_model_or_font_is_a_path_where_one_is_there_and_a_name_elsewhere(write: Write, tmp_path: Path) -> None:
    path = write('[engine]\nmodel = "mine"\n[render]\nfont = "TW-Kai"\n')
    assert (Settings.load(path).engine.model, Settings.load(path).render.font) == ("mine", "TW-Kai")
    (tmp_path / "project/mine").mkdir()
    assert Settings.load(path).engine.model == str(tmp_path / "project/mine")


@pytest.mark.parametrize(
    "url", ["sqlite:////tmp/a.sqlite", "sqlite:///:memory:", "sqlite://", "postgresql://user@host/db", "sqlite:///C:/a"]
)
def test_an_address_that_is_no_relative_file_stays_as_it_is(write: Write, url: str) -> None:
    assert Settings.load(write(f'[store]\nurl = "{url}"\n')).store_address == url


def test_the_store_lies_in_the_project_folder_and_without_a_project_with_the_output(
    write: Write, tmp_path: Path
) -> None:
    assert Settings.load(write("")).store_address == tmp_path / "project/proof.sqlite"
    assert Settings().replace({"project.out": tmp_path / "o"}).store_address == tmp_path / "o/proof.sqlite"


def test_settings_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().page.columns = 9  # type: ignore[misc]


def test_no_workers_means_one_a_core() -> None:
    assert Settings().replace({"engine.workers": 3}).workers == 3
    assert Settings().replace({"engine.workers": 0}).workers >= 1


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[page]\n\ncolums = 9\n", "3: [page] has no setting colums; did you mean columns?"),
        ("[page]\nthreads = 2\n", "2: [page] has no setting threads; it belongs in [engine]"),
        ("[page]\nxyzzy = 2\n", "2: [page] has no setting xyzzy"),
        ("# x\n[engin]\nthreads = 2\n", "2: there is no section [engin]; did you mean [engine]?"),
        ("columns = 9\n", "1: columns stands in no section; did you mean columns in [page]?"),
        ("xyzzy = 9\n", "1: xyzzy stands in no section"),
        ('page = "x"\n', "1: page must be a section: write [page] and its settings below it"),
        ("[[page]]\nrows = 2\n", "1: page must be a section: write [page] and its settings below it"),
        ('[page]\ncolumns = "8"\n', '2: page.columns must be a whole number, not "8"'),
        ("[page]\ncolumns = 8.0\n", "2: page.columns must be a whole number, not 8"),
        ("[page]\ncolumns = true\n", "2: page.columns must be a whole number, not true"),
        ("[page]\ncolumns = [\n8]\n", "2: page.columns must be a whole number, not a list"),
        ("[page]\ncolumns = -1\n", "2: page.columns must be from 0 to 60, not -1"),
        ("[page]\nrows = 0\n", "2: page.rows must be from 1 to 100, not 0"),
        ("[page.rows]\na = 1\n", "1: page.rows must be a whole number, not a section"),
        ("[flags]\nthreshold = true\n", "2: flags.threshold must be a number, not true"),
        ("[flags]\nthreshold = nan\n", "2: flags.threshold must be from -1000 to 1000, not nan"),
        ("[flags]\nthreshold = inf\n", "2: flags.threshold must be from -1000 to 1000, not inf"),
        ("[flags]\nshow_variants = 1\n", "2: flags.show_variants must be true or false, not 1"),
        (
            '[page]\nscript = "simplifed"\n',
            '2: page.script must be auto or traditional or simplified, not "simplifed"; did you mean simplified?',
        ),
        ("[images]\nmax_megapixels = 1000\n", "2: images.max_megapixels must be from 0.1 to 178, not 1000"),
        ('[project]\ntexts = "a.txt"\n', '2: project.texts must be a list of paths, not "a.txt"'),
        ('[project]\nimages = ["a", 1]\n', "2: project.images must be a list of paths, not a list"),
        ('[project]\nimages = [""]\n', "2: project.images must be a list of paths, not a list"),
        ('[project]\nout = ""\n', "2: project.out must name a path, not be empty"),
        ("[project]\ntitle = 2020-01-01\n", '2: project.title must be text, not "2020-01-01"'),
    ],
)
def test_a_slip_is_named_with_its_line_and_the_nearest_valid_name(write: Write, text: str, said: str) -> None:
    assert problems(write(text)) == [said]


def test_everything_that_is_wrong_is_said_at_once(write: Write) -> None:
    said = problems(write("[page]\ncolums = 9\nrows = 0\n\n[engine]\nname = 'ppcor'\n"))
    assert [line.partition(":")[0] for line in said] == ["2", "3", "6"]
    assert said[2].endswith("did you mean ppocr?")


def test_a_list_of_variants_that_is_not_there_is_named(write: Write, tmp_path: Path) -> None:
    path = write('[variants]\nfile = "pairs.tsv"\n')
    assert problems(path) == [f"2: variants.file: there is no file {tmp_path / 'project/pairs.tsv'}"]
    (tmp_path / "project/pairs.tsv").touch()
    assert Settings.load(path).variants.file == tmp_path / "project/pairs.tsv"


def test_a_file_that_is_not_toml_or_not_there_is_named(write: Write, tmp_path: Path) -> None:
    assert problems(write("[page]\nrows = \n"))[0].startswith("2: is not valid TOML")
    with pytest.raises(ConfigError, match="there is no such file"):
        Settings.load(tmp_path / "none.toml")


NUMBERS = ["1", "-1", "0", "1e400", "nan"]
TEXTS = ['"x"', '""', '"~nobody/x"', '"a\\u0000b"', f'"{"x" * 5000}"']
OTHERS = ["true", "[]", "[1]", '[["x"]]', "{}", "07:32:00"]


@given(name=st.sampled_from(sorted(SETTINGS)), value=st.sampled_from(NUMBERS + TEXTS + OTHERS))
def test_any_value_is_taken_or_refused_with_its_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "config.toml"
    path.write_text(f"[{SETTINGS[name].section}]\n{SETTINGS[name].key} = {value}\n", encoding="utf-8")
    try:
        settings = Settings.load(path)
    except ConfigError as error:
        said = str(error)
    else:
        said = f"{path}:2: {name}"
        assert SETTINGS[name].value(settings[name], path.parent) == settings[name]
    assert said.startswith(f"{path}:2: {name}")


# --- the command line over the file -----------------------------------------------------------------------


def test_the_command_line_goes_over_the_file_where_it_says_something(write: Write) -> None:
    settings = Settings.load(write("[page]\ncolumns = 9\nrows = 20\n"))
    changed = settings.replace({"page.columns": 10, "page.rows": None, "engine.device": "gpu"})
    assert (changed.page.columns, changed.page.rows, changed.engine.device) == (10, 20, "gpu")
    assert changed.file == settings.file
    assert settings.page.columns == 9


def test_text_from_the_command_line_is_read_as_the_setting_wants_it() -> None:
    settings = Settings().replace({"page.columns": "9", "flags.threshold": "1.5", "flags.show_variants": "true"})
    assert (settings.page.columns, settings.flags.threshold, settings.flags.show_variants) == (9, 1.5, True)


def test_paths_on_the_command_line_count_from_the_working_folder(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.load(write(""))
    monkeypatch.chdir(tmp_path)
    changed = settings.replace({"project.images": ["scans"], "project.texts": "a.txt", "project.out": "o"})
    assert changed.project.images == (tmp_path / "scans",)
    assert changed.project.texts == (tmp_path / "a.txt",)
    assert changed.project.out == tmp_path / "o"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("page.colums", 9, r"\[page\] has no setting colums; did you mean columns\?"),
        ("page.columns", "nine", 'page.columns must be a whole number, not "nine"'),
        ("flags.show_variants", "maybe", "must be true or false"),
        ("columns", 9, "stands in no section"),
        ("page.columns.x", 9, "has no setting columns.x"),
    ],
)
def test_a_slip_on_the_command_line_is_wrong_usage(name: str, value: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Settings().replace({name: value})


@given(st.text(), st.text())
def test_no_name_or_text_breaks_the_settings(name: str, text: str) -> None:
    with pytest.raises(UsageError):
        Settings().replace({f"x{name}": text})


# --- the texts of a project -------------------------------------------------------------------------------


def test_patterns_are_expanded_in_order_and_each_text_comes_once(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    path = write('[project]\ntexts = ["b.txt", "*.txt", "juan/**/*.txt"]\n')
    for name in ("a.txt", "b.txt", ".hidden.txt", "juan/1/c.txt", "juan/d.txt", "juan/e.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    files = Settings.load(path).text_files()
    assert [file.relative_to(folder).as_posix() for file in files] == ["b.txt", "a.txt", "juan/1/c.txt", "juan/d.txt"]


def test_witnesses_are_files_folders_and_branches_with_or_without_a_siglum(write: Write, tmp_path: Path) -> None:
    settings = Settings.load(
        write('[project]\nwitnesses = ["四部=sbck/*.txt", "wyg", "汲=repo@SBCK", "one.txt", "*.md"]\n')
    )
    folder = tmp_path / "project"
    for name in ("sbck/1.txt", "sbck/2.txt", "wyg/1.txt", "one.txt", "a.md", "b.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("甲", encoding="utf-8")
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


def test_brackets_in_a_folder_or_file_name_are_no_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "儀禮 [draft]"
    folder.mkdir()
    (folder / "卷十 [1].txt").touch()
    (folder / "config.toml").write_text('[project]\ntexts = ["卷十 [1].txt", "*.txt"]\n', encoding="utf-8")
    assert Settings.load(folder).text_files() == (folder / "卷十 [1].txt",)


def test_a_pattern_on_the_command_line_may_lie_outside_the_project(write: Write, tmp_path: Path) -> None:
    (tmp_path / "other.txt").touch()
    settings = Settings.load(write("")).replace({"project.texts": [tmp_path / "o*.txt"]})
    assert settings.text_files() == (tmp_path / "other.txt",)


def test_a_pattern_without_a_file_is_named_with_its_line(write: Write, tmp_path: Path) -> None:
    path = write('[project]\ntitle = "x"\ntexts = ["none*.txt"]\n')
    with pytest.raises(ConfigError, match=r"config\.toml:3: project\.texts: .*none\*\.txt: matches no file"):
        Settings.load(path).text_files()
    with pytest.raises(ConfigError, match="project: a folder; name its files"):
        Settings().replace({"project.texts": [tmp_path / "project"]}).text_files()


# --- the fingerprint --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("engine.threads", 8),
        ("engine.workers", 8),
        ("project.out", "elsewhere"),
        ("project.title", "x"),
        ("project.images", ["x"]),
        ("report.lang", "zh-Hant"),
        ("store.url", "sqlite://"),
        ("render.seed", 7),
        ("flags.threshold", 0.7),
        ("flags.show_variants", True),
    ],
)
def test_what_changes_no_result_leaves_the_fingerprint(name: str, value: object) -> None:
    assert Settings().replace({name: value}).fingerprint() == Settings().fingerprint()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("page.columns", 9),
        ("page.rows", 20),
        ("page.script", "simplified"),
        ("engine.name", "paddleocr"),
    ],
)
def test_what_changes_results_changes_the_fingerprint(name: str, value: object) -> None:
    assert Settings().replace({name: value}).fingerprint() != Settings().fingerprint()


def test_of_the_variants_the_content_counts_and_not_the_place(tmp_path: Path) -> None:
    prints = []
    for name, text in (("a", "畧 略"), ("b", "畧 略"), ("a", "葢 蓋")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        prints.append(Settings().replace({"variants.file": tmp_path / name}).fingerprint())
    assert prints[0] == prints[1] != prints[2]
    assert Settings().fingerprint() not in prints


def test_the_fingerprint_outlives_a_moved_project(write: Write, tmp_path: Path) -> None:
    text = "[page]\ncolumns = 9\n"
    (tmp_path / "moved.toml").write_text(text, encoding="utf-8")
    assert Settings.load(write(text)).fingerprint() == Settings.load(tmp_path / "moved.toml").fingerprint()


def test_a_list_of_variants_that_has_gone_is_named(write: Write, tmp_path: Path) -> None:
    path = write('[variants]\nfile = "pairs.tsv"\n')
    (tmp_path / "project/pairs.tsv").touch()
    settings = Settings.load(path)
    (tmp_path / "project/pairs.tsv").unlink()
    with pytest.raises(ConfigError, match=r"config\.toml:2: variants\.file: .*cannot be read"):
        settings.fingerprint()


# --- one declaration for all ------------------------------------------------------------------------------


def test_every_attribute_is_declared_with_a_default_of_its_own_kind_and_a_help() -> None:
    for section in fields(Settings):
        if section.name == "file":
            continue
        for attribute in fields(getattr(Settings(), section.name)):
            setting = SETTINGS[f"{section.name}.{attribute.name}"]
            assert setting.help
            assert setting.value(setting.default, Path()) == setting.default
            assert Settings()[setting.name] == setting.default


def test_choices_are_those_of_the_modules_that_know_them() -> None:
    assert SETTINGS["report.lang"].choices == tuple(languages.LANGUAGES)
    assert SETTINGS["render.wear"].choices == tuple(wear.LEVELS)
    assert SETTINGS["page.script"].choices == ("auto", *Script)
    assert SETTINGS["images.max_megapixels"].default == load.MAX_MEGAPIXELS


def test_the_sample_project_loads_and_names_the_sample() -> None:
    settings = Settings.load(ROOT / "config.toml")
    assert settings.project.images == (ROOT / "pages",)
    assert settings.project.out == ROOT / "out"
    needed = [name for name, setting in SETTINGS.items() if setting.kind is ValueKind.PATHS]
    assert all(settings[name] for name in needed)
    assert [file.name for file in settings.text_files()] == ["dasheyi.txt", "jianming.txt"]
