"""Tokens of the API: who sends one in `Authorization: Bearer` asks as the account that it was made for.

A token is signed with the key of the sessions and kept nowhere. It names its account, the account's `token_stamp` and
the second at which it ends; it is over when the account is disabled, gets another password, or its tokens are revoked.
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
        """A token that is good for so many days; the account must have been allowed it (`Accounts.allow_token`)."""
        ends = int(time.time()) + days * SECONDS_OF_DAY
        return str(self._signer.dumps([account.number, account.token_stamp, ends]))

    def account_of(self, token: str) -> Account | None:
        """Whose token this is; None where it is none, or over."""
        try:
            number, stamp, ends = self._signer.loads(token)
            account = self._accounts.get(number)
        except (BadSignature, NoAccountError):
            return None
        good = stamp and stamp == account.token_stamp and time.time() < ends and not account.disabled
        return account if good else None
