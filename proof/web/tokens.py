"""Tokens of the API: a request with a token in `Authorization: Bearer` has the rights of the token's account.

A token is signed with the key of the sessions and is not stored. It contains the account, the account's `token_stamp`
and its time of expiry. It also becomes invalid when the account is disabled, gets a new password, or revokes its
tokens.
"""

from __future__ import annotations

import hashlib
import time

from itsdangerous import BadSignature, URLSafeSerializer

from proof.store.accounts import Account, Accounts, NoAccountError

SECONDS_OF_DAY = 86_400


class Tokens:
    """Makes and reads the tokens of a store's accounts; `secret` is the key of the sessions."""

    def __init__(self, accounts: Accounts, secret: str) -> None:
        self._accounts = accounts
        self._signer = URLSafeSerializer(secret, "api token", signer_kwargs={"digest_method": hashlib.sha256})

    def make(self, account: Account, days: int) -> str:
        """A token that is valid for so many days; the account must allow tokens (`Accounts.allow_token`)."""
        ends = int(time.time()) + days * SECONDS_OF_DAY
        return str(self._signer.dumps([account.number, account.token_stamp, ends]))

    def account_of(self, token: str) -> Account | None:
        """The account of a token; None if the token is not valid."""
        try:
            number, stamp, ends = self._signer.loads(token)
            account = self._accounts.get(number)
        except (BadSignature, NoAccountError):
            return None
        is_current = stamp and stamp == account.token_stamp
        is_valid = is_current and time.time() < ends and not account.disabled
        return account if is_valid else None
