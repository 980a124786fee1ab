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
from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from werkzeug.test import TestResponse

from proof.store import Store
from proof.store.accounts import Role
from proof.web import create_app
from proof.web.rights import ACCOUNT_ENDPOINTS, OPEN_ENDPOINTS, UNCHANGING_POSTS, Right, needed_right
from proof.web.tokens import Tokens
from tests.build import decision_log
from tests.web.drawn import WORK, Served, csrf_token, fill, settings_in

BASE = f"/api/v1/works/{WORK}"
PASSWORD = "四庫 full of 書"  # noqa: S105
WRONG = "wrong password"
NEW = "another pass phrase"
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

    def tried(self, name: str, address: str = "127.0.0.1") -> int:
        """The status of an attempt with a wrong password, from a browser that nobody knows."""
        return self.somebody().log_in(name, WRONG, environ_base={"REMOTE_ADDR": address}).status_code


@dataclass(frozen=True)
class Browser:
    """Keeps cookies, and takes the token of a page with what it sends."""

    client: FlaskClient
    app: Flask

    def token(self, path: str = "/account") -> str:
        return csrf_token(self.client.get(path).text)

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

    def age(self, **seconds: int) -> int:
        """Signs the session as it would be, had it been begun (`since`) or last used (`seen`) so long ago; gives how
        long ago it was used before that."""
        name, now = self.app.config["SESSION_COOKIE_NAME"], int(time.time())
        signer = self.app.session_interface.get_signing_serializer(self.app)  # type: ignore[attr-defined]
        cookie = self.client.get_cookie(name)
        assert cookie is not None
        held = signer.loads(cookie.value)
        self.client.set_cookie(name, signer.dumps(held | {which: now - ago for which, ago in seconds.items()}))
        return now - int(held["seen"])


def house_in(folder: Path, **serve: Any) -> Iterator[House]:
    settings = settings_in(folder).replace({"serve.auth": True} | {f"serve.{key}": serve[key] for key in serve})
    with Store.open(settings.store_address) as store:
        fill(store, folder)
        for name, role in PEOPLE.items():
            store.accounts.add(name, role, PASSWORD)
        yield House(create_app(settings, store=store), store, folder)


@pytest.fixture
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    """Four people: 甲 administers, 乙 and 丙 proofread, 丁 reads; where a test says so, few attempts are allowed."""
    yield from house_in(tmp_path, **getattr(request, "param", {}))


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The same house for a whole module, whose tests change nothing in it."""
    yield from house_in(tmp_path_factory.mktemp("calm"))


def attempts(most: int) -> pytest.MarkDecorator:
    """The house allows so many wrong passwords of an account from an address, and five times as many over all."""
    return pytest.mark.parametrize("house", [{"attempts": most}], indirect=True, ids=[f"{most} attempts"])


def addresses(app: Flask, methods: set[str], number: int) -> Iterator[tuple[str, str, str]]:
    """Endpoint, method and path of all that the application answers by these methods, each place named `number`."""
    adapter = app.url_map.bind("localhost")
    named = {"work": WORK, "name": "0" * 64, "region": "full", "size": "max", "job": "none", "download": "0"}
    for rule in app.url_map.iter_rules():
        values = {name: named.get(name, "001-1a" if name == "address" else number) for name in rule.arguments}
        for method in (rule.methods or set()) & methods:
            yield rule.endpoint, method, adapter.build(rule.endpoint, values, method=method)


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
    headers = bearer(house, "乙")
    house.browser("乙").submit("/logout")  # which leaves tokens as they are
    assert decided_with(house, headers) == 201
    assert house.store.decisions.history(1)[0].person == "乙"
    assert decided_with(house, bearer(house, "丁")) == 403  # a reader


def test_the_description_names_what_authorises_each_operation(house: House) -> None:
    paths = house.browser("丁").client.get("/api/v1/openapi.json").get_json()["paths"]
    reading, logging_in = paths["/api/v1/works"]["get"], paths["/api/v1/session"]["get"]
    deciding = paths["/api/v1/works/{work}/flags/{flag}/decisions"]["post"]
    assert reading["security"] == [{"token": []}, {"session": []}]
    assert deciding["security"] == [{"token": []}, {"session": [], "csrf": []}]
    assert "security" not in logging_in


def test_a_program_is_told_how_it_authorises_itself_and_what_right_it_lacks(house: House) -> None:
    nobody = house.somebody().client
    seen = nobody.get("/api/v1/works", headers={"Authorization": "Bearer nonsense"})
    decided = nobody.post(f"/api/v1/works/{WORK}/flags/1/decisions", json={})
    assert all("Authorization: Bearer" in answer.text for answer in (seen, decided))
    ruled = {"text": "北", "image": "比", "holds": True}
    refused = nobody.post(f"/api/v1/works/{WORK}/rules", json=ruled, headers=bearer(house, "乙"))
    assert "(proofreader) has no right to set rules" in refused.text


def test_a_token_is_over_when_it_expired_or_was_revoked_and_with_its_accounts_password(house: House) -> None:
    accounts, number = house.store.accounts, house.number("乙")
    forged = {"Authorization": bearer(house, "乙")["Authorization"] + "x"}
    for headers in (forged, bearer(house, "乙", days=-1)):
        assert decided_with(house, headers) == 401
    for end in (
        lambda: accounts.revoke_tokens(number),
        lambda: accounts.set_password(number, NEW),
        lambda: accounts.set_disabled(number, True),
    ):
        headers = bearer(house, "乙")
        end()
        assert decided_with(house, headers) == 401
    assert decision_log(house.store, WORK) == []


def test_nobody_sees_anything_before_logging_in(calm: House) -> None:
    """Every address of the application is asked for; what is open is known by name."""
    nobody = calm.somebody()
    headers = {"X-CSRFToken": nobody.token("/login")}
    asked = 0
    for endpoint, method, path in addresses(calm.app, {"GET", "POST", "PUT", "PATCH", "DELETE"}, 1):
        if endpoint in OPEN_ENDPOINTS:
            continue
        answer = nobody.client.open(path, method=method, json={}, headers=headers)
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
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", " //evil.example",],
)  # fmt: skip
def test_logging_in_leads_to_no_other_host(calm: House, target: str) -> None:
    browser = calm.somebody()
    data = {"name": "乙", "password": PASSWORD, "csrf_token": browser.token("/login")}
    landed = browser.client.post("/login", query_string={"next": target}, data=data)
    assert (landed.status_code, landed.headers["Location"]) == (302, "/")


def test_a_wrong_password_and_an_unknown_name_are_told_the_same(house: House) -> None:
    wrong, unknown = house.somebody().log_in("乙", WRONG), house.somebody().log_in("nobody", PASSWORD)
    assert wrong.status_code == unknown.status_code == 401
    assert refusal(wrong.text) == refusal(unknown.text) == "The name or the password is wrong."
    assert PASSWORD not in wrong.text + unknown.text


@attempts(3)
def test_after_too_many_wrong_passwords_even_the_right_one_must_wait(house: House) -> None:
    browser = house.somebody()
    for _ in range(3):
        assert browser.log_in("乙", WRONG).status_code == 401
    refused = browser.log_in("乙")
    assert (refused.status_code, browser.is_in()) == (429, False)
    assert "Too many wrong passwords" in refusal(refused.text)
    browser.client.set_cookie("lang", "zh-Hant")
    assert not re.search("[A-Za-z]{3}", refusal(browser.log_in("乙").text))
    token = browser.client.get("/api/v1/session").json["token"]  # type: ignore[index]
    by_api = browser.client.post(
        "/api/v1/session", json={"name": "乙", "password": PASSWORD}, headers={"X-CSRFToken": token}
    )
    assert by_api.status_code == 429
    assert 0 < int(by_api.headers["Retry-After"]) <= 900
    assert browser.log_in("丙").status_code == 302, "another account is not shut out"
    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    assert house.somebody().log_in("乙", environ_base=elsewhere).status_code == 302, "nor its owner elsewhere"


@attempts(1)
@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("name {}", "127.0.0.1"),
        ("乙", "192.0.2.{}"),
    ],
    ids=["many names at an address", "many addresses at an account"],
)
def test_who_tries_much_has_to_wait_whatever_they_vary(house: House, name: str, address: str) -> None:
    assert [house.tried(name.format(n), address.format(n)) for n in range(7)] == [401] * 5 + [429] * 2


def logged_out(house: House, name: str) -> Browser:
    """A browser that somebody has logged in with before."""
    known = house.browser(name)
    known.submit("/logout")
    return known


@attempts(2)
def test_an_account_under_attack_lets_its_owner_in_where_they_have_logged_in_before(house: House) -> None:
    known = logged_out(house, "乙")
    for n in range(12):
        house.tried("乙", f"192.0.2.{n}")
        house.tried(f"name {n}")
    assert house.somebody().log_in("乙").status_code == 429, "a browser that nobody knows waits"
    assert known.log_in("丙").status_code == 429, "and so does another account in a browser that 乙's knows"
    assert known.log_in("乙", WRONG).status_code == 401
    assert known.log_in("乙").status_code == 302


# sessions


@pytest.mark.parametrize("https", [False, True])
def test_a_cookie_is_kept_from_scripts_and_other_sites_and_behind_https_from_http(tmp_path: Path, https: bool) -> None:
    for house in house_in(tmp_path, https=https):
        answer = house.app.test_client().get("/login", base_url="https://localhost")
        name, *attributes = [part.strip() for part in answer.headers["Set-Cookie"].split(";")]
        assert {"HttpOnly", "SameSite=Lax"} <= set(attributes)
        assert ("Secure" in attributes) is name.startswith("__Host-") is https
        assert not any(part.startswith(("Domain", "Expires", "Max-Age")) for part in attributes)
        assert answer.headers.get("Strict-Transport-Security") == ("max-age=31536000" if https else None)


def test_the_key_of_sessions_is_made_once_and_only_its_owner_reads_it(house: House) -> None:
    path, key = house.folder / ".proof-secret", house.app.config["SECRET_KEY"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert key == path.read_text().strip()
    again = create_app(settings_in(house.folder), store=house.store)
    assert again.config["SECRET_KEY"] == key
    sha256 = {"digest_method": hashlib.sha256}
    assert URLSafeTimedSerializer(key, salt="wtf-csrf-token", signer_kwargs=sha256).loads(house.browser("甲").token())


def test_a_session_goes_on_while_it_is_used_but_not_for_ever_and_nothing_is_written_after_it(calm: House) -> None:
    browser = calm.browser("乙")
    browser.age(since=86_000, seen=7140)
    assert browser.is_in()
    assert browser.age() < 7000, "it was noted that it is in use"
    token = browser.token()
    browser.age(since=86_410)
    assert not browser.is_in()
    assert "/login?next=" in browser.client.get(f"/works/{WORK}/").headers["Location"]
    unused = calm.browser("乙")
    unused.age(seen=7210)
    assert not unused.is_in()
    body = {"verdict": "take", "version": 0, "key": "0123456789"}
    answer = browser.client.post(f"{BASE}/flags/1/decisions", json=body, headers={"X-CSRFToken": token})
    assert answer.status_code == 401
    assert decision_log(calm.store, WORK) == []


def test_logging_out_ends_every_session_and_no_copy_of_a_cookie_is_good(house: House) -> None:
    first, second, thief, other = house.browser("乙"), house.browser("乙"), house.somebody(), house.browser("丙")
    name = house.app.config["SESSION_COOKIE_NAME"]
    stolen = first.client.get_cookie(name)
    assert stolen is not None
    thief.client.set_cookie(name, stolen.value)
    assert thief.is_in()
    left = first.submit("/logout")
    assert (left.headers["Location"], left.headers["Clear-Site-Data"]) == ("/login", '"cache"')
    assert [person.is_in() for person in (first, second, thief, other)] == [False, False, False, True]
    assert house.browser("乙").is_in()


def test_another_password_ends_the_sessions_elsewhere(house: House) -> None:
    here, there = house.browser("乙"), house.browser("乙")
    assert "The password is changed" in here.submit("/account", current=PASSWORD, new=NEW, again=NEW).text
    assert [here.is_in(), there.is_in()] == [True, False]
    assert house.somebody().log_in("乙").status_code == 401
    assert house.somebody().log_in("乙", NEW).status_code == 302


def test_what_an_administrator_changes_of_an_account_holds_at_once(house: House) -> None:
    browser, master, number = house.browser("乙"), house.browser("甲"), house.number("乙")
    master.submit("/people", number=number, act="role", role="reader")
    assert browser.decide(2, "keep").status_code == 403
    assert master.submit("/people", number=number, act="disable").status_code == 302
    assert not browser.is_in()
    assert house.somebody().log_in("乙").status_code == 401
    assert master.submit("/people", number=number, act="enable").status_code == 302
    assert not browser.is_in()
    assert house.browser("乙").is_in()


# who may do what


def test_each_role_may_do_what_it_may_and_no_more(calm: House) -> None:
    """Every address that writes is tried by every role: refused by right, or answered whatever it then says."""
    may = {"甲": set(Right), "乙": {Right.SEE, Right.DECIDE}, "丁": {Right.SEE}}
    browsers = {name: calm.browser(name) for name in may}
    tokens = {name: browser.token() for name, browser in browsers.items()}
    tried = 0
    for endpoint, method, path in addresses(calm.app, {"POST", "PUT", "PATCH", "DELETE"}, 99):
        if endpoint in OPEN_ENDPOINTS | ACCOUNT_ENDPOINTS:
            continue
        right = needed_right(endpoint, method)
        assert right not in (None, Right.SEE) or endpoint in UNCHANGING_POSTS, f"{endpoint} writes"
        for name, browser in browsers.items():
            answer = browser.client.open(path, method=method, json={}, headers={"X-CSRFToken": tokens[name]})
            assert (answer.status_code == 403) is (right not in may[name]), (name, method, path, answer.text)
            tried += 1
    assert tried >= 24
    assert decision_log(calm.store, WORK) == []


# forged and repeated requests


def test_a_session_alone_is_not_enough_to_change_anything(calm: House) -> None:
    """Without the token of a page, with an invented one, with that of somebody else or of the browser before it was
    logged in with, or with the token of a program: from the API and from forms."""
    browser, other = calm.somebody(), calm.browser("乙")
    before = browser.token("/login")
    browser.log_in("甲")
    body = {"verdict": "take", "version": 0, "key": "0123456789"}
    for token in ("", "invented", other.token(), before):
        headers = {"X-CSRFToken": token} | bearer(calm, "甲")
        answer = browser.client.post(f"{BASE}/flags/1/decisions", json=body, headers=headers)
        assert answer.status_code == 403, token
        assert token != before or answer.json["code"] == "token"  # type: ignore[index]
        for method, path in (
            ("PATCH", "/api/v1/people/2"),
            ("DELETE", "/api/v1/session"),
            ("PUT", "/api/v1/session/password"),
        ):
            assert browser.client.open(path, method=method, json={}, headers=headers).status_code == 403
        for path in ("/logout", "/account", "/people", "/login"):
            answer = browser.client.post(path, data={"csrf_token": token, "act": "disable", "number": 2})
            assert answer.status_code == 403, path
    assert decision_log(calm.store, WORK) == []
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
    state = {"state": "proofread", "version": 0, "key": "request-0003"}
    for path, body in (("corrections", mark), ("states", state)):
        assert first.send(f"{BASE}/pages/1/{path}", body).status_code == 201
        assert second.send(f"{BASE}/pages/1/{path}", body).status_code == 422
    assert [decision.person for decision in decision_log(house.store, WORK)] == ["乙", "乙"]
    assert house.store.decisions.history(1)[0].id == made["id"]


def test_no_trick_with_a_path_comes_to_what_is_shut(calm: House) -> None:
    paths = [
        *("/works/../people", "/works/%2e%2e/people", "//people", "/people/", "/static/../people", "/PEOPLE"),
        *("/people%00", "/api/v1/../../people", "/login/../people", "/healthz/../people", "/people;/login"),
        *("/static/x/../../../.proof-secret", "/static/x/%2e%2e%2f%2e%2e%2f.proof-secret", "/.proof-secret"),
        "/people?next=/login",
    ]
    for browser in (calm.somebody(), calm.browser("乙")):
        for path in paths:
            answer = browser.client.get(path, headers={"Accept": "text/html"}, follow_redirects=True)
            assert answer.status_code in (400, 403, 404) or 'name="password"' in answer.text, path
            assert "Add somebody" not in answer.text, path
            assert calm.app.config["SECRET_KEY"] not in answer.text, path


# the administrator's page and API


def added(house: House) -> str:
    """The password that the administrator hands to 戊, whom they add."""
    page = house.browser("甲").submit("/people", name="戊", role="proofreader").text
    [handed] = re.findall(r'<code id="handed">([a-z0-9-]+)</code>', page)
    return str(handed)


def test_somebody_added_is_handed_a_password_and_chooses_another_before_anything_else(house: House) -> None:
    handed = added(house)
    fresh = house.browser("戊", handed)
    assert fresh.client.get(f"/works/{WORK}/").headers["Location"] == "/account"
    assert fresh.client.get(f"{BASE}/flags").status_code == 403
    assert fresh.decide(1, "take").status_code == 403
    fresh.submit("/account", current=handed, new=NEW, again=NEW)
    assert fresh.decide(1, "take").status_code == 201
    assert house.somebody().log_in("戊", handed).status_code == 401


def test_a_password_that_was_handed_over_and_not_used_expires(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    first = added(house)
    monkeypatch.setattr("proof.store.accounts.MAX_PROVISIONAL_AGE", timedelta(0))
    for _ in range(12):  # it is no guess
        answer = house.somebody().log_in("戊", first)
        assert (answer.status_code, "handed over" in answer.text) == (403, True)
    assert house.somebody().log_in("戊", "some other password").status_code == 401
    monkeypatch.undo()
    assert house.somebody().log_in("戊", first).status_code == 302
    assert house.somebody().log_in("乙").status_code == 302


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
    assert {entry["name"] for entry in listed} == {*PEOPLE, "戊"}
    assert all(set(entry) == {"number", "name", "role", "disabled", "provisional", "made", "seen"} for entry in listed)
    again: Any = master.send(f"/api/v1/people/{number}/password", None).json
    assert again["password"] != password


def test_a_program_logs_in_and_out_by_the_api(house: House) -> None:
    client = house.app.test_client()
    answer: Any = client.get("/api/v1/session").json
    assert (answer["person"], answer["role"], answer["rights"]) == ("", None, [])
    body = {"name": "乙", "password": PASSWORD}
    assert client.post("/api/v1/session", json=body).status_code == 403
    headers = {"X-CSRFToken": answer["token"]}
    for name in ("\ud800", "\0", "x" * 256):
        wrong = client.post("/api/v1/session", json={"name": name, "password": "\udfff"}, headers=headers)
        assert wrong.status_code in (401, 422), name
    held: Any = client.post("/api/v1/session", json=body, headers=headers).json
    assert (held["person"], held["role"], held["rights"]) == ("乙", "proofreader", ["decide", "see"])
    headers = {"X-CSRFToken": held["token"]}
    decision = {"verdict": "take", "version": 0, "key": "0123456789"}
    assert client.post(f"{BASE}/flags/1/decisions", json=decision, headers=headers).status_code == 201
    held = client.put("/api/v1/session/password", json={"current": PASSWORD, "new": NEW}, headers=headers).json
    assert client.delete("/api/v1/session", headers={"X-CSRFToken": held["token"]}).json["person"] == ""  # type: ignore[index]
    assert client.get("/api/v1/works").status_code == 401


def test_without_accounts_one_person_may_do_all_and_the_pages_about_people_say_so(served: Served) -> None:
    client = served.app.test_client()
    session: Any = client.get("/api/v1/session").json
    assert (session["role"], session["rights"]) == (None, ["decide", "overrule", "rule", "see"])
    body = {"verdict": "take", "version": 0, "key": "0123456789"}
    made = client.post(f"{BASE}/flags/1/decisions", json=body, headers={"X-CSRFToken": session["token"]})
    assert made.json["person"] == session["person"] != ""  # type: ignore[index]
    assert client.get("/api/v1/people").status_code == 404
    for path in ("/login", "/people", "/account"):
        answer = client.get(path, headers={"Accept": "text/html", "Accept-Language": "zh-TW"})
        assert answer.status_code == 404
        assert "此伺服器無帳戶" in refusal(answer.text)


# what is refused, and in what words

FORM = "the form is incomplete"
LATIN = re.compile("[A-Za-z]{3}")
REFUSED: list[tuple[str, str, dict[str, Any], int, str]] = [
    ("", "/login", {"name": "甲", "password": "wrong"}, 401, "The name or the password is wrong"),
    ("", "/login", {}, 401, "The name or the password is wrong"),
    ("乙", "/account", {"current": "wrong", "new": NEW, "again": NEW}, 422, "That is not your password"),
    ("乙", "/account", {"current": PASSWORD, "new": "短短短短", "again": "短短短短"}, 422, "10 to 256 characters"),
    ("乙", "/account", {"current": PASSWORD, "new": "密" * 12, "again": "密" * 12}, 422, "guessed at once"),
    ("乙", "/account", {"current": PASSWORD, "new": f"{NEW}\x07", "again": f"{NEW}\x07"}, 422, ""),
    ("乙", "/account", {"current": PASSWORD, "new": NEW, "again": f"{NEW}f"}, 422, "The two new passwords differ"),
    ("乙", "/account", {"current": PASSWORD}, 422, FORM),
    ("甲", "/people", {}, 422, "needs a name and a role"),
    ("甲", "/people", {"name": "戊"}, 422, "needs a name and a role"),
    ("甲", "/people", {"name": "乙", "role": "reader"}, 422, ""),
    ("甲", "/people", {"name": "", "role": "reader"}, 422, ""),
    ("甲", "/people", {"name": "長" * 300, "role": "reader"}, 422, ""),
    ("甲", "/people", {"name": "甲\u200b", "role": "reader"}, 422, ""),
    ("甲", "/people", {"name": "戊", "role": "emperor"}, 422, ""),
    ("甲", "/people", {"act": "fire", "number": "2"}, 422, FORM),
    ("甲", "/people", {"act": "role", "number": "2", "role": ""}, 422, FORM),
    ("甲", "/people", {"act": "role", "number": "2", "role": "king"}, 422, FORM),
    ("甲", "/people", {"act": "role", "number": "x", "role": "reader"}, 422, FORM),
    ("甲", "/people", {"act": "role", "number": "1", "role": "reader"}, 422, ""),
    ("甲", "/people", {"act": "disable", "number": "1"}, 422, ""),
    ("甲", "/people", {"act": "disable", "number": "999"}, 404, ""),
    ("甲", "/people", {"act": "disable", "number": str(10**30)}, 422, FORM),
    ("甲", "/people", {"act": "disable", "number": "-1"}, 422, FORM),
    ("丁", "/people", {"act": "disable", "number": "1"}, 403, ""),
    ("甲", "/people", {"csrf_token": "forged"}, 403, ""),
    ("甲", "/people/nobody", {}, 404, ""),
    ("甲", "/logout?GET", {}, 405, ""),
]


def refusal(page: str) -> str:
    """What a page says against what was sent."""
    match = re.search(r'role="alert">([^<]+)<', page) or re.search(r"</h1>\s*<p>([^<]+)</p>", page)
    assert match, page
    return match[1]


@pytest.mark.parametrize(("name", "path", "data", "status", "english"), REFUSED)
def test_a_form_that_makes_no_sense_changes_nobody_and_is_refused_in_the_language_of_the_browser(
    calm: House, name: str, path: str, data: dict[str, Any], status: int, english: str
) -> None:
    before = [
        (account.name, account.role, account.disabled, account.stamp) for account in calm.store.accounts.everybody()
    ]
    browser = calm.browser(name) if name else calm.somebody()
    token = {"csrf_token": browser.token("/account" if name else "/login")}
    messages = {}
    for language in ("en", "zh-Hant", "zh-Hans"):
        headers = {"Accept": "text/html", "Accept-Language": language}
        if path.endswith("?GET"):
            answer = browser.client.get(path.removesuffix("?GET"), headers=headers)
        else:
            answer = browser.client.post(path, data=token | data, headers=headers)
        assert answer.status_code == status
        messages[language] = refusal(answer.text)
    assert LATIN.search(messages["en"])
    assert english in messages["en"]
    for language in ("zh-Hant", "zh-Hans"):
        assert not LATIN.search(messages[language]), messages[language]
        assert re.search("[\u4e00-\u9fff]{2}", messages[language])
    assert "%" not in "".join(messages.values())
    assert [
        (account.name, account.role, account.disabled, account.stamp) for account in calm.store.accounts.everybody()
    ] == before
