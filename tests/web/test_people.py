"""Several people: who may come in and do what, when a session is over, and what a forged or repeated request gets."""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from werkzeug.test import TestResponse

from proof.store import Store
from proof.store.accounts import Role
from proof.web import create_app
from proof.web.rights import MADE_TO_SEE, OPEN, OWN, Right, needed
from proof.web.tokens import Tokens
from tests.web.drawn import WORK, fill, settings_in

BASE = f"/api/v1/works/{WORK}"
PASSWORD = "四庫 full of 書"  # noqa: S105
PEOPLE = {"甲": Role.ADMINISTRATOR, "乙": Role.PROOFREADER, "丙": Role.PROOFREADER, "丁": Role.READER}


@dataclass(frozen=True)
class House:
    """An application with accounts, and its store."""

    app: Flask
    store: Store
    folder: Path

    def somebody(self) -> Browser:
        return Browser(self.app.test_client(), self.app)

    def browser(self, name: str, password: str = PASSWORD) -> Browser:
        """A browser in which that person has logged in."""
        browser = self.somebody()
        assert browser.log_in(name, password).status_code == 302
        return browser

    def number(self, name: str) -> int:
        return self.store.accounts.named(name).number


@dataclass(frozen=True)
class Browser:
    """Keeps cookies, and takes the token of a page with what it sends."""

    client: FlaskClient
    app: Flask

    def token(self, path: str = "/account") -> str:
        found = re.search(r'name="csrf" content="([^"]+)"', self.client.get(path).text)
        assert found
        return found[1]

    def log_in(self, name: str, password: str = PASSWORD, query: str = "", **more: Any) -> TestResponse:
        data = {"name": name, "password": password, "csrf_token": self.token("/login")}
        return self.client.post(f"/login{query}", data=data, headers={"Accept": "text/html"}, **more)

    def submit(self, path: str, **data: Any) -> TestResponse:
        return self.client.post(path, data=data | {"csrf_token": self.token()}, headers={"Accept": "text/html"})

    def send(self, path: str, body: Any, method: str = "POST") -> TestResponse:
        return self.client.open(path, method=method, json=body, headers={"X-CSRFToken": self.token()})

    def decide(self, flag: int, verdict: str, version: int = 0, key: str = "", **more: Any) -> TestResponse:
        body = {"verdict": verdict, "version": version, "key": key or uuid.uuid4().hex, **more}
        return self.send(f"{BASE}/flags/{flag}/decisions", body)

    def is_in(self) -> bool:
        return self.client.get("/api/v1/works").status_code == 200

    def age(self, **seconds: int) -> None:
        """Signs the session as it would be, had it been begun (`since`) or last used (`seen`) so long ago."""
        name = self.app.config["SESSION_COOKIE_NAME"]
        signer = self.app.session_interface.get_signing_serializer(self.app)  # type: ignore[attr-defined]
        cookie = self.client.get_cookie(name)
        assert cookie is not None
        held = signer.loads(cookie.value)
        held |= {which: int(time.time()) - ago for which, ago in seconds.items()}
        self.client.set_cookie(name, signer.dumps(held))


def house_in(folder: Path, **serve: Any) -> Iterator[House]:
    settings = settings_in(folder).replace({"serve.auth": True} | {f"serve.{key}": serve[key] for key in serve})
    with Store.open(settings.store_address) as store:
        fill(store, folder)
        store.accounts.hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
        for name, role in PEOPLE.items():
            store.accounts.add(name, role, PASSWORD)
        yield House(create_app(settings, store=store), store, folder)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Four people: 甲 administers, 乙 and 丙 proofread, 丁 reads."""
    yield from house_in(tmp_path)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The same house for a whole module, whose tests change nothing in it."""
    yield from house_in(tmp_path_factory.mktemp("calm"))


# coming in


def bearer(house: House, name: str, days: int = 1) -> dict[str, str]:
    """The header of a program to which that person gave a token."""
    accounts = house.store.accounts
    made = Tokens(accounts, house.app.config["SECRET_KEY"]).make(accounts.allow_token(house.number(name)), days)
    return {"Authorization": f"Bearer {made}"}


def decided_with(house: House, headers: dict[str, str]) -> int:
    body = {"verdict": "keep", "version": 0, "key": uuid.uuid4().hex}
    return house.app.test_client().post(f"{BASE}/flags/1/decisions", json=body, headers=headers).status_code


def test_a_program_with_a_token_decides_as_its_account_without_cookies(house: House) -> None:
    assert decided_with(house, bearer(house, "乙")) == 201
    assert house.store.decisions.history(1)[0].person == "乙"
    assert decided_with(house, bearer(house, "丁")) == 403  # a reader


@pytest.mark.parametrize("end", ["revoked", "password", "disabled", "days", "forged"])
def test_a_token_is_over(house: House, end: str) -> None:
    headers, accounts, number = bearer(house, "乙"), house.store.accounts, house.number("乙")
    match end:
        case "revoked":
            accounts.revoke_tokens(number)
        case "password":
            accounts.set_password(number, "another 書 of mine")
        case "disabled":
            accounts.set_disabled(number, True)
        case "days":
            headers = bearer(house, "乙", days=-1)
        case "forged":
            headers["Authorization"] += "x"
    assert decided_with(house, headers) == 401


def test_logging_out_leaves_tokens_as_they_are(house: House) -> None:
    headers = bearer(house, "乙")
    house.browser("乙").submit("/logout")
    assert decided_with(house, headers) == 201


def test_a_request_with_a_session_needs_the_token_against_forgery_whatever_it_bears(calm: House) -> None:
    browser = calm.browser("乙")
    body = {"verdict": "keep", "version": 0, "key": uuid.uuid4().hex}
    headers = bearer(calm, "乙")
    answer = browser.client.post(f"{BASE}/flags/1/decisions", json=body, headers=headers)
    assert answer.status_code == 403


def test_nobody_sees_anything_before_logging_in(calm: House) -> None:
    """Every address of the application is asked for; what is open is known by name."""
    values = {
        "work": WORK,
        "number": 1,
        "page": 1,
        "flag": 1,
        "name": "0" * 64,
        "region": "full",
        "size": "max",
        "job": "0",
        "download": "0",
        "line": 1,
        "offset": 0,
        "report": 1,
        "address": "001-1a",
    }
    client = calm.app.test_client()
    token = re.search(r'name="csrf" content="([^"]+)"', client.get("/login").text)
    assert token
    adapter = calm.app.url_map.bind("localhost")
    asked = 0
    for rule in calm.app.url_map.iter_rules():
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            if rule.endpoint in OPEN:
                continue
            path = adapter.build(rule.endpoint, {name: values[name] for name in rule.arguments}, method=method)
            answer = client.open(path, method=method, json={}, headers={"X-CSRFToken": token[1]})
            if path.startswith(("/api/", "/iiif/")):
                assert (answer.status_code, answer.mimetype) == (401, "application/problem+json"), path
                assert answer.headers["WWW-Authenticate"]
            else:
                assert answer.status_code == 302, path
                assert answer.headers["Location"].startswith("/login"), path
            asked += 1
    assert asked > 25


def test_who_logs_in_comes_to_where_they_wanted_to_go(calm: House) -> None:
    browser = calm.somebody()
    sent = browser.client.get(f"/works/{WORK}/desk?kind=insertion&state=open")
    landed = browser.log_in("乙", query=sent.headers["Location"].removeprefix("/login"))
    assert landed.headers["Location"] == f"/works/{WORK}/desk?kind=insertion&state=open"
    page = browser.client.get(landed.headers["Location"])
    assert 'data-person="乙" data-may="decide see"' in page.text


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example", "javascript:alert(1)", "evil",
     "\\\\evil.example", " //evil.example", "///evil.example", "http:evil.example", "//[evil"],
)  # fmt: skip
def test_logging_in_leads_to_no_other_host(calm: House, target: str) -> None:
    browser = calm.somebody()
    assert browser.client.get("/login", query_string={"next": target}).status_code == 200
    data = {"name": "乙", "password": PASSWORD, "csrf_token": browser.token("/login")}
    landed = browser.client.post("/login", query_string={"next": target}, data=data)
    assert (landed.status_code, landed.headers["Location"]) == (302, "/")


def test_a_wrong_password_and_an_unknown_name_are_told_the_same(house: House) -> None:
    wrong, unknown = house.somebody().log_in("乙", "wrong password"), house.somebody().log_in("nobody", PASSWORD)
    assert wrong.status_code == unknown.status_code == 401
    said = [re.findall(r'role="alert">([^<]+)<', answer.text) for answer in (wrong, unknown)]
    assert said == [["The name or the password is wrong."]] * 2
    assert PASSWORD not in wrong.text + unknown.text


def test_after_too_many_wrong_passwords_even_the_right_one_must_wait(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=3):
        browser = house.somebody()
        for _ in range(3):
            assert browser.log_in("乙", "wrong password").status_code == 401
        refused = browser.log_in("乙")
        assert refused.status_code == 429
        assert not browser.is_in()
        assert "Too many wrong passwords" in refused.text
        token = browser.client.get("/api/v1/session").json["token"]  # type: ignore[index]
        by_api = browser.client.post(
            "/api/v1/session", json={"name": "乙", "password": PASSWORD}, headers={"X-CSRFToken": token}
        )
        assert by_api.status_code == 429
        assert 0 < int(by_api.headers["Retry-After"]) <= 900
        assert browser.log_in("丙").status_code == 302, "another account is not shut out"
        elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
        assert house.somebody().log_in("乙", environ_base=elsewhere).status_code == 302, "nor its owner elsewhere"


def test_an_address_that_tries_many_names_must_wait_too(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=2):
        answers = [house.somebody().log_in(f"name {n}", "wrong password").status_code for n in range(12)]
        assert answers == [401] * 10 + [429] * 2


def test_an_account_tried_from_many_addresses_must_wait_too(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=1):
        tried = [
            house.somebody().log_in("乙", "wrong password", environ_base={"REMOTE_ADDR": f"192.0.2.{n}"}).status_code
            for n in range(7)
        ]
        assert tried == [401] * 5 + [429] * 2


def test_however_many_come_in_from_one_address_nobody_waits(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=1):
        for _ in range(12):
            for name in PEOPLE:
                assert house.somebody().log_in(name).status_code == 302
        assert house.somebody().log_in("乙", "wrong password").status_code == 401
        assert house.somebody().log_in("丙").status_code == 302


def test_an_account_under_attack_lets_its_owner_in_where_they_have_logged_in_before(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=2):
        known = house.browser("乙")
        known.client.post("/logout", data={"csrf_token": known.token()})
        for n in range(20):
            house.somebody().log_in("乙", "wrong password", environ_base={"REMOTE_ADDR": f"192.0.2.{n}"})
            house.somebody().log_in(f"name {n}", "wrong password")
        assert house.somebody().log_in("乙").status_code == 429, "a browser that nobody knows waits"
        assert known.log_in("丙").status_code == 429, "and so does another account in a browser that 乙's knows"
        assert known.log_in("乙", "wrong password").status_code == 401
        assert known.log_in("乙").status_code == 302


def test_a_known_browser_is_no_way_round_the_counts(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=2):
        known = house.browser("乙")
        known.client.post("/logout", data={"csrf_token": known.token()})
        answers = [known.log_in("乙", "wrong password").status_code for _ in range(6)]
        assert answers == [401] * 4 + [429] * 2, "its own count, then that of its address"


def test_a_cookie_made_up_makes_no_browser_known(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=1):
        known, forger = house.browser("丙"), house.somebody()
        cookies = known.client._cookies or {}  # no public list of them
        (mine,) = [cookie for (_, _, name), cookie in cookies.items() if "-known-" in name]
        name = mine.key.rsplit("-", 1)[0]
        for who in ("乙", "丙"):
            digest = hashlib.blake2b(who.encode(), digest_size=16).hexdigest()
            forger.client.set_cookie(f"{name}-{digest[:8]}", mine.value if who == "乙" else mine.value[:-3])
            answers = [forger.log_in(who, "wrong password").status_code for _ in range(2)]
            assert answers == [401, 429]


def test_an_address_of_the_sixth_version_counts_by_its_network(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=1):
        tried = [
            house.somebody().log_in(f"n {n}", "wrong one", environ_base={"REMOTE_ADDR": f"2001:db8::{n}"}).status_code
            for n in range(7)
        ]
        assert tried == [401] * 5 + [429] * 2


def test_who_comes_in_is_not_counted(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=2):
        for _ in range(4):
            assert house.somebody().log_in("乙", "wrong password").status_code == 401
            house.browser("乙")


# sessions


def test_a_cookie_is_kept_from_scripts_and_other_sites_and_behind_https_from_http(tmp_path: Path) -> None:
    for https, flags in ((False, {"HttpOnly", "SameSite=Lax"}), (True, {"HttpOnly", "SameSite=Lax", "Secure"})):
        folder = tmp_path / str(https)
        folder.mkdir()
        for house in house_in(folder, https=https):
            answer = house.app.test_client().get("/login", base_url="https://localhost")
            name, *said = [part.strip() for part in answer.headers["Set-Cookie"].split(";")]
            assert flags <= set(said)
            assert ("Secure" in said) is name.startswith("__Host-") is https
            assert not any(part.startswith(("Domain", "Expires", "Max-Age")) for part in said)
            strict = answer.headers.get("Strict-Transport-Security")
            assert strict == ("max-age=31536000" if https else None)


def test_the_key_of_sessions_is_made_once_and_only_its_owner_reads_it(house: House) -> None:
    path = house.folder / ".proof-secret"
    assert path.stat().st_mode & 0o777 == 0o600
    assert house.app.config["SECRET_KEY"] == path.read_text().strip()
    again = create_app(settings_in(house.folder), store=house.store)
    assert again.config["SECRET_KEY"] == house.app.config["SECRET_KEY"]


@pytest.mark.parametrize(("ages", "inside"), [({"seen": 7140}, True), ({"seen": 7210}, False)])
def test_a_session_that_is_not_used_is_over(calm: House, ages: dict[str, int], inside: bool) -> None:
    browser = calm.browser("乙")
    browser.age(**ages)
    assert browser.is_in() is inside


def test_a_session_in_use_goes_on_but_not_for_ever(calm: House) -> None:
    browser = calm.browser("乙")
    browser.age(since=86_000, seen=7000)
    assert browser.is_in()
    browser.age(since=86_000)
    assert browser.is_in(), "it was noted that it is in use"
    browser.age(since=86_410)
    assert not browser.is_in()
    assert browser.client.get(f"{BASE}/flags").status_code == 401
    assert "/login?next=" in browser.client.get(f"/works/{WORK}/").headers["Location"]


def test_a_decision_in_a_session_that_is_over_is_refused_and_nothing_is_written(calm: House) -> None:
    browser = calm.browser("乙")
    token = browser.token()
    browser.age(seen=7210)
    body = {"verdict": "take", "version": 0, "key": "0123456789"}
    answer = browser.client.post(f"{BASE}/flags/1/decisions", json=body, headers={"X-CSRFToken": token})
    assert answer.status_code == 401
    assert calm.store.decisions.last() == 0


def test_a_session_with_another_signature_is_none(calm: House) -> None:
    browser = calm.browser("乙")
    name = calm.app.config["SESSION_COOKIE_NAME"]
    cookie = browser.client.get_cookie(name)
    assert cookie is not None
    held, _, signature = cookie.value.rpartition(".")
    browser.client.set_cookie(name, f"{held}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}")
    assert not browser.is_in()


def test_logging_out_ends_every_session_and_no_copy_of_a_cookie_is_good(house: House) -> None:
    first, second, thief, other = house.browser("乙"), house.browser("乙"), house.somebody(), house.browser("丙")
    name = house.app.config["SESSION_COOKIE_NAME"]
    stolen = first.client.get_cookie(name)
    assert stolen is not None
    thief.client.set_cookie(name, stolen.value)
    assert thief.is_in()
    assert first.submit("/logout").headers["Location"] == "/login"
    assert [one.is_in() for one in (first, second, thief, other)] == [False, False, False, True]
    assert house.browser("乙").is_in()


def test_another_password_ends_the_sessions_elsewhere(house: House) -> None:
    here, there = house.browser("乙"), house.browser("乙")
    new = "another pass phrase"
    answer = here.submit("/account", current=PASSWORD, new=new, again=new)
    assert "The password is changed" in answer.text
    assert [here.is_in(), there.is_in()] == [True, False]
    assert house.somebody().log_in("乙").status_code == 401
    assert house.somebody().log_in("乙", new).status_code == 302


@pytest.mark.parametrize(
    ("current", "new", "again", "said"),
    [
        ("wrong password", "another pass phrase", "another pass phrase", "That is not your password"),
        (PASSWORD, "another pass phrase", "another pass phrasf", "The two new passwords differ"),
        (PASSWORD, "short", "short", "a password has 10 to 256 characters"),
        (PASSWORD, "aaaaaaaaaaaa", "aaaaaaaaaaaa", "guessed at once"),
    ],
)
def test_a_password_is_changed_by_who_knows_it_to_a_good_one(
    calm: House, current: str, new: str, again: str, said: str
) -> None:
    answer = calm.browser("乙").submit("/account", current=current, new=new, again=again)
    assert answer.status_code == 422
    assert said in answer.text
    assert calm.browser("乙").is_in()


def test_somebody_shut_out_is_out_at_once(house: House) -> None:
    browser, master = house.browser("乙"), house.browser("甲")
    assert master.submit("/people", number=house.number("乙"), act="disable").status_code == 302
    assert not browser.is_in()
    assert house.somebody().log_in("乙").status_code == 401
    assert master.submit("/people", number=house.number("乙"), act="enable").status_code == 302
    assert not browser.is_in()
    assert house.browser("乙").is_in()


def test_another_role_holds_from_the_next_request_on(house: House) -> None:
    browser = house.browser("乙")
    assert browser.decide(1, "keep").status_code == 201
    house.browser("甲").submit("/people", number=house.number("乙"), act="role", role="reader")
    assert browser.decide(2, "keep").status_code == 403


def test_logging_in_gives_another_token_and_what_was_in_the_browser_before_is_gone(house: House) -> None:
    browser = house.somebody()
    before = browser.token("/login")
    browser.log_in("乙")
    body = {"verdict": "take", "version": 0, "key": "0123456789"}
    answer = browser.client.post(f"{BASE}/flags/1/decisions", json=body, headers={"X-CSRFToken": before})
    assert (answer.status_code, answer.json["code"]) == (403, "token")  # type: ignore[index]


# who may do what


def test_each_role_may_do_what_it_may_and_no_more(calm: House) -> None:
    """Every address that writes is tried by every role: refused by right, or answered whatever it then says."""
    values = {"work": WORK, "number": 99, "page": 99, "flag": 99, "line": 1, "job": "none", "report": 99}
    adapter = calm.app.url_map.bind("localhost")
    may = {
        "甲": set(Right),
        "乙": {Right.SEE, Right.DECIDE},
        "丁": {Right.SEE},
    }
    browsers = {name: calm.browser(name) for name in may}
    tokens = {name: browser.token() for name, browser in browsers.items()}
    tried = 0
    for rule in calm.app.url_map.iter_rules():
        for method in (rule.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"}:
            if rule.endpoint in OPEN | OWN:
                continue
            right = needed(rule.endpoint, method)
            assert right not in (None, Right.SEE) or rule.endpoint in MADE_TO_SEE, f"{rule.endpoint} writes"
            path = adapter.build(rule.endpoint, {name: values[name] for name in rule.arguments}, method=method)
            for name, browser in browsers.items():
                answer = browser.client.open(path, method=method, json={}, headers={"X-CSRFToken": tokens[name]})
                assert (answer.status_code == 403) is (right not in may[name]), (name, method, path, answer.text)
                tried += 1
    assert tried >= 24
    assert calm.store.decisions.last() == 0


def test_who_decided_stands_in_the_event(house: House) -> None:
    made: Any = house.browser("乙").decide(1, "take").json
    assert made["person"] == "乙"
    forged = house.browser("乙").decide(2, "take", person="甲")
    assert forged.status_code == 422
    assert [one.person for one in house.store.decisions.log(WORK)] == ["乙"]


def test_a_proofreader_takes_back_their_own_and_an_administrator_anything(house: House) -> None:
    first, second, master = house.browser("乙"), house.browser("丙"), house.browser("甲")
    made: Any = first.decide(1, "take").json
    refused = second.decide(1, "undo", 1, undoes=made["id"])
    assert refused.status_code == 403
    assert "乙 decided it" in refused.json["detail"]  # type: ignore[index]
    assert first.decide(1, "undo", 1).status_code == 201
    assert first.decide(1, "keep", 2).status_code == 201
    assert master.decide(1, "undo", 3).status_code == 201
    assert [one.person for one in house.store.decisions.history(1)] == ["乙", "乙", "乙", "甲"]


def test_a_page_is_validated_by_a_second_person(house: House) -> None:
    first, second, path = house.browser("乙"), house.browser("丙"), f"{BASE}/pages/1/states"

    def say(browser: Browser, state: str, version: int) -> int:
        return browser.send(path, {"state": state, "version": version, "key": uuid.uuid4().hex}).status_code

    assert say(first, "proofread", 0) == 201
    assert say(first, "validated", 1) == 422
    assert say(house.browser("丁"), "validated", 1) == 403
    assert say(second, "validated", 1) == 201
    assert say(first, "not proofread", 2) == 403
    assert say(house.browser("甲"), "not proofread", 2) == 201


def test_rules_of_the_project_are_the_administrators(house: House) -> None:
    rule = {"text": "告", "image": "吿", "holds": True}
    assert house.browser("乙").send(f"{BASE}/rules", rule).status_code == 403
    assert house.browser("甲").send(f"{BASE}/rules", rule).status_code == 200
    assert [one.person for one in house.store.rules.of_work(WORK)] == ["甲"]


# forged and repeated requests


def test_a_session_alone_is_not_enough_to_change_anything(calm: House) -> None:
    """Without the token of a page, with an invented one, with that of somebody else: from the API and from forms."""
    browser, other = calm.browser("甲"), calm.browser("乙")
    body = {"verdict": "take", "version": 0, "key": "0123456789"}
    for token in ("", "invented", other.token()):
        headers = {"X-CSRFToken": token}
        answer = browser.client.post(f"{BASE}/flags/1/decisions", json=body, headers=headers)
        assert answer.status_code == 403, token
        for method in ("patch", "delete", "put"):
            path = {"patch": "/api/v1/people/2", "delete": "/api/v1/session", "put": "/api/v1/session/password"}[method]
            assert getattr(browser.client, method)(path, json={}, headers=headers).status_code == 403
        for path in ("/logout", "/account", "/people", "/login"):
            answer = browser.client.post(path, data={"csrf_token": token, "act": "disable", "number": 2})
            assert answer.status_code == 403, path
    assert calm.store.decisions.last() == 0
    assert browser.is_in()
    assert not calm.store.accounts.named("乙").disabled


def test_the_request_of_one_repeated_by_another_does_nothing(house: House) -> None:
    first, second = house.browser("乙"), house.browser("丙")
    made: Any = first.decide(1, "take", key="request-0001").json
    assert first.decide(1, "take", key="request-0001").json["repeated"] is True  # type: ignore[index]
    for browser in (second, house.browser("甲")):
        answer = browser.decide(1, "take", key="request-0001")
        assert answer.status_code == 422
        assert "乙" not in answer.text
    mark = {"line": 1, "offset": 0, "length": 1, "reading": "入", "key": "request-0002"}
    assert first.send(f"{BASE}/pages/1/corrections", mark).status_code == 201
    assert second.send(f"{BASE}/pages/1/corrections", mark).status_code == 422
    state = {"state": "proofread", "version": 0, "key": "request-0003"}
    assert first.send(f"{BASE}/pages/1/states", state).status_code == 201
    assert second.send(f"{BASE}/pages/1/states", state).status_code == 422
    assert [one.person for one in house.store.decisions.log(WORK)] == ["乙", "乙"]
    assert house.store.decisions.history(1)[0].id == made["id"]


@pytest.mark.parametrize(
    "path",
    ["/works/../people", "/works/%2e%2e/people", "//people", "/people/", "/static/../people", "/PEOPLE", "/people%00",
     "/api/v1/../../people", "/login/../people", "/healthz/../people", "/static/x/../../../.proof-secret",
     "/static/x/%2e%2e%2f%2e%2e%2f.proof-secret", "/people;/login", "/people?next=/login", "/.proof-secret"],
)  # fmt: skip
def test_no_trick_with_a_path_comes_to_what_is_shut(calm: House, path: str) -> None:
    for browser in (calm.somebody(), calm.browser("乙")):
        answer = browser.client.get(path, headers={"Accept": "text/html"}, follow_redirects=True)
        assert answer.status_code in (400, 403, 404) or 'name="password"' in answer.text
        assert "Add somebody" not in answer.text
        assert calm.app.config["SECRET_KEY"] not in answer.text


# the administrator's page and API


def test_somebody_added_is_handed_a_password_and_chooses_another_before_anything_else(house: House) -> None:
    page = house.browser("甲").submit("/people", name="戊", role="proofreader")
    found = re.search(r'<code id="handed">([a-z0-9-]+)</code>', page.text)
    assert found
    fresh = house.browser("戊", found[1])
    assert fresh.client.get(f"/works/{WORK}/").headers["Location"] == "/account"
    assert fresh.client.get(f"{BASE}/flags").status_code == 403
    assert fresh.decide(1, "take").status_code == 403
    new = "a phrase of my own"
    fresh.submit("/account", current=found[1], new=new, again=new)
    assert fresh.decide(1, "take").status_code == 201
    assert house.somebody().log_in("戊", found[1]).status_code == 401


def test_a_password_that_was_handed_over_and_not_used_expires(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has it is told so; nobody else is, and another one is good again."""
    page = house.browser("甲").submit("/people", name="戊", role="proofreader")
    first = re.findall(r'<code id="handed">([a-z0-9-]+)</code>', page.text)[0]
    monkeypatch.setattr("proof.store.accounts.HANDED_OVER_FOR", timedelta(0))
    for _ in range(12):  # it is no guess
        answer = house.somebody().log_in("戊", first)
        assert (answer.status_code, "handed over" in answer.text) == (403, True)
    assert house.somebody().log_in("戊", "some other password").status_code == 401
    monkeypatch.undo()
    assert house.somebody().log_in("戊", first).status_code == 302
    assert house.somebody().log_in("乙").status_code == 302


def test_a_token_against_forged_requests_is_signed_with_sha_256(calm: House) -> None:
    token = calm.browser("甲").token()
    signer = URLSafeTimedSerializer(
        calm.app.config["SECRET_KEY"], salt="wtf-csrf-token", signer_kwargs={"digest_method": hashlib.sha256}
    )
    assert signer.loads(token)


def test_who_logs_out_leaves_nothing_in_the_cache_of_the_browser(house: House) -> None:
    assert house.browser("甲").submit("/logout").headers["Clear-Site-Data"] == '"cache"'


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"name": "戊"},
        {"name": "戊", "role": "king"},
        {"name": "", "role": "reader"},
        {"name": "乙", "role": "reader"},
        {"act": "fire", "number": 2},
        {"act": "role", "number": 2, "role": "king"},
        {"act": "role", "number": 2},
        {"act": "role", "number": "x", "role": "reader"},
        {"act": "disable", "number": 10**30},
        {"act": "disable", "number": -1},
    ],
)
def test_a_form_that_makes_no_sense_changes_nobody(calm: House, form: dict[str, Any]) -> None:
    before = calm.store.accounts.everybody()
    assert calm.browser("甲").submit("/people", **form).status_code == 422
    assert [(one.name, one.role) for one in calm.store.accounts.everybody()] == [(o.name, o.role) for o in before]


def test_markup_in_a_name_is_text(house: House) -> None:
    name = "<script>window.broken=1</script>"
    house.store.accounts.add(name, Role.PROOFREADER, PASSWORD)
    browser = house.browser(name)
    browser.decide(1, "take")
    for one, path in ((browser, "/account"), (browser, f"/works/{WORK}/history"), (house.browser("甲"), "/people")):
        page = one.client.get(path).text
        assert "<script>window" not in page
        assert "&lt;script&gt;window" in page or "\\u003cscript" in page


def test_the_api_manages_people_as_the_page_does(house: House) -> None:
    master = house.browser("甲")
    made = master.send("/api/v1/people", {"name": "戊", "role": "reader"})
    assert made.status_code == 201
    number, password = made.json["person"]["number"], made.json["password"]  # type: ignore[index]
    assert master.send("/api/v1/people", {"name": "戊", "role": "reader"}).status_code == 422
    changed: Any = master.send(f"/api/v1/people/{number}", {"role": "proofreader", "disabled": True}, "PATCH").json
    assert (changed["role"], changed["disabled"]) == ("proofreader", True)
    assert master.send("/api/v1/people/99", {"disabled": True}, "PATCH").status_code == 404
    assert master.send(f"/api/v1/people/{number}", {"name": "己"}, "PATCH").status_code == 422
    listed: Any = master.client.get("/api/v1/people").json["items"]  # type: ignore[index]
    assert {one["name"] for one in listed} == {*PEOPLE, "戊"}
    assert all(set(one) == {"number", "name", "role", "disabled", "provisional", "made", "seen"} for one in listed)
    again: Any = master.send(f"/api/v1/people/{number}/password", None).json
    assert again["password"] != password


def test_a_program_logs_in_and_out_by_the_api(house: House) -> None:
    client = house.app.test_client()
    asked: Any = client.get("/api/v1/session").json
    assert (asked["person"], asked["role"], asked["rights"]) == ("", None, [])
    body = {"name": "乙", "password": PASSWORD}
    assert client.post("/api/v1/session", json=body).status_code == 403
    for name in ("\ud800", "\0", "x" * 256):
        wrong = client.post(
            "/api/v1/session", json={"name": name, "password": "\udfff"}, headers={"X-CSRFToken": asked["token"]}
        )
        assert wrong.status_code in (401, 422), name
    held: Any = client.post("/api/v1/session", json=body, headers={"X-CSRFToken": asked["token"]}).json
    assert (held["person"], held["role"], held["rights"]) == ("乙", "proofreader", ["decide", "see"])
    headers = {"X-CSRFToken": held["token"]}
    decision = {"verdict": "take", "version": 0, "key": "0123456789"}
    assert client.post(f"{BASE}/flags/1/decisions", json=decision, headers=headers).status_code == 201
    new = {"current": PASSWORD, "new": "another pass phrase"}
    held = client.put("/api/v1/session/password", json=new, headers=headers).json
    assert client.delete("/api/v1/session", headers={"X-CSRFToken": held["token"]}).json["person"] == ""  # type: ignore[index]
    assert client.get("/api/v1/works").status_code == 401


def test_without_accounts_all_is_as_it_was(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        fill(store, tmp_path)
        client = create_app(settings, store=store).test_client()
        for path in ("/login", "/account", "/people", "/api/v1/people"):
            assert client.get(path).status_code == 404
        session: Any = client.get("/api/v1/session").json
        assert session["role"] is None
        assert session["rights"] == ["decide", "overrule", "rule", "see"]
        body = {"verdict": "take", "version": 0, "key": "0123456789"}
        made = client.post(f"{BASE}/flags/1/decisions", json=body, headers={"X-CSRFToken": session["token"]})
        assert made.json["person"] == session["person"] != ""  # type: ignore[index]


# what was done to accounts


def test_administrators_see_who_did_what_to_whose_account(house: House) -> None:
    boss = house.browser("甲")
    number = house.number("丙")
    boss.submit("/people", act="role", number=number, role="reader")
    boss.submit("/people", act="disable", number=number)
    page = boss.client.get("/people").text
    table = page[page.index('id="events"') :]
    for said in ("account shut", "role changed: proofreader → reader", "in the browser", "account made"):
        assert said in table, said
    events = boss.client.get("/api/v1/people/events?limit=2").get_json()
    assert [(one["deed"], one["name"], one["person"]) for one in events["items"]] == [
        ("disabled", "丙", "甲"),
        ("role", "丙", "甲"),
    ]
    rest = boss.client.get(f"/api/v1/people/events?cursor={events['next']}").get_json()
    assert [one["deed"] for one in rest["items"]] == ["created"] * 4
    assert boss.client.get("/people?before=2").text.count("<time") >= 1
    for name in ("乙", "丁"):
        assert house.browser(name).client.get("/api/v1/people/events").status_code == 403
        assert house.browser(name).client.get("/people").status_code == 403


def test_ones_own_password_and_one_that_is_handed_over_are_told_apart(house: House) -> None:
    house.browser("甲").submit("/people", act="password", number=house.number("乙"))
    third = house.browser("丙")
    third.submit("/account", current=PASSWORD, new="another pass phrase", again="another pass phrase")
    newest, older = house.store.accounts.events(limit=2)
    assert (newest.name, newest.person, newest.now) == ("丙", "丙", "")
    assert (older.name, older.person, older.now) == ("乙", "甲", "provisional")


# what is refused, and in what words

LONG = "長" * 300
REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("", "/login", {"name": "甲", "password": "wrong"}),
    ("", "/login", {}),
    ("甲", "/account", {"current": "wrong", "new": "x" * 12, "again": "x" * 12}),
    ("甲", "/account", {"current": PASSWORD, "new": "短短短短", "again": "短短短短"}),
    ("甲", "/account", {"current": PASSWORD, "new": "密" * 12, "again": "密" * 12}),
    ("甲", "/account", {"current": PASSWORD, "new": "甲乙丙丁戊\x07己庚辛壬癸", "again": "甲乙丙丁戊\x07己庚辛壬癸"}),
    ("甲", "/account", {"current": PASSWORD, "new": "甲乙丙丁戊己庚辛壬癸", "again": "子丑寅卯"}),
    ("甲", "/account", {"current": PASSWORD}),
    ("甲", "/people", {"name": "乙", "role": "reader"}),
    ("甲", "/people", {"name": "", "role": "reader"}),
    ("甲", "/people", {"name": LONG, "role": "reader"}),
    ("甲", "/people", {"name": "甲\u200b", "role": "reader"}),
    ("甲", "/people", {"name": "戊", "role": "emperor"}),
    ("甲", "/people", {"act": "role", "number": "1", "role": ""}),
    ("甲", "/people", {"act": "role", "number": "1", "role": "reader"}),
    ("甲", "/people", {"act": "disable", "number": "1"}),
    ("甲", "/people", {"act": "disable", "number": "999"}),
    ("丁", "/people", {"act": "disable", "number": "1"}),
    ("甲", "/people", {"csrf_token": "forged"}),
    ("甲", "/people/nobody", {}),
    ("甲", "/logout?GET", {}),
]


def refusal(page: str) -> str:
    """What a page says against what was sent."""
    found = re.search(r'role="alert">([^<]+)<', page) or re.search(r"</h1>\s*<p>([^<]+)</p>", page)
    assert found, page
    return found[1]


@pytest.mark.parametrize(("name", "path", "data"), REFUSED)
def test_every_refusal_is_told_in_the_language_of_the_browser(
    calm: House, name: str, path: str, data: dict[str, Any]
) -> None:
    browser = calm.browser(name) if name else calm.somebody()
    token = {"csrf_token": browser.token("/account" if name else "/login")}
    said = {}
    for language in ("en", "zh-Hant", "zh-Hans"):
        headers = {"Accept": "text/html", "Accept-Language": language}
        if path.endswith("?GET"):
            answer = browser.client.get(path.removesuffix("?GET"), headers=headers)
        else:
            answer = browser.client.post(path, data=token | data, headers=headers)
        assert answer.status_code >= 400
        said[language] = refusal(answer.text)
    assert re.search("[A-Za-z]{3}", said["en"])
    for language in ("zh-Hant", "zh-Hans"):
        assert not re.search("[A-Za-z]{3}", said[language]), said[language]
        assert re.search("[\u4e00-\u9fff]{2}", said[language])
    assert "%" not in "".join(said.values())


def test_who_tries_too_often_is_told_in_their_language(tmp_path: Path) -> None:
    for house in house_in(tmp_path, attempts=1):
        browser = house.somebody()
        browser.log_in("甲", "wrong")
        data = {"name": "甲", "password": "wrong", "csrf_token": browser.token("/login")}
        told = browser.client.post("/login", data=data, headers={"Accept": "text/html", "Accept-Language": "zh-TW"})
        assert told.status_code == 429
        assert not re.search("[A-Za-z]{3}", refusal(told.text))


@pytest.mark.parametrize("path", ["/login", "/people", "/account"])
def test_without_accounts_the_pages_about_people_say_so_in_the_language_of_the_browser(
    tmp_path: Path, path: str
) -> None:
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        fill(store, tmp_path)
        client = create_app(settings, store=store).test_client()
        answer = client.get(path, headers={"Accept": "text/html", "Accept-Language": "zh-TW"})
        assert answer.status_code == 404
        assert "此處無帳戶" in refusal(answer.text)
