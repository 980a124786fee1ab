"""Messages of the pages and their scripts, marked with `_` for translation."""

from __future__ import annotations

from proof.locale.marking import Say, _
from proof.report.reasons import KINDS, MOVED_NAME, REASONS, STATES, VERDICTS

PAGE_STATES = {
    "not proofread": _("not proofread"),
    "proofread": _("proofread"),
    "validated": _("validated"),
    "problem": _("problem"),
}

COMMENT_STATES = {
    "note": _("note"),
    "problem": _("problem"),
    "resolved": _("resolved"),
}

ROLES = {
    "reader": _("reader"),
    "proofreader": _("proofreader"),
    "administrator": _("administrator"),
}

ACCOUNT_EVENTS = {
    "created": _("account made"),
    "role": _("role changed"),
    "password": _("password set"),
    "disabled": _("account disabled"),
    "enabled": _("account enabled"),
    "token": _("token made"),
    "tokens revoked": _("tokens revoked"),
}

ACCOUNT_CHANNELS = {
    "browser": _("in the browser"),
    "command line": _("at the command line"),
    "program": _("by a program"),
}

RIGHTS = {
    "see": _("see"),
    "decide": _("decide"),
    "rule": _("set rules"),
    "overrule": _("take back what others decided"),
    "manage": _("manage people"),
}

REFUSALS = {
    "log in": _("you are not logged in, or the session is over: log in"),
    "no people": _("there are no accounts on this server: start it with `proof serve --auth`"),
    "own password": _("choose a password of your own first"),
    "not allowed": _("%(name)s (%(role)s) has no right to %(right)s: ask an administrator for it"),
    "form": _("the form is incomplete: fill in all of its fields"),
    "new account": _("a new account needs a name and a role: give both"),
    "forged": _(
        "The request does not come from a page of this server, or the page is too old. Go back, load it again and "
        "try once more."
    ),
    "mistake": _("The server made a mistake; its log says which."),
    "no reading": _("this reading of the page is no longer known: have the page read again"),
    "no download": _("this download is no longer available: request it again"),
    "no image": _("no image of this project has this name: load the page again"),
    "assignee": _("%(name)s has no account that can be given this: choose another person"),
    "reports": _("Too many reports came from here: try again in an hour."),
    "not requested": _("only those who had the page read again, or an administrator, can cancel that"),
}

RECHECK_FAULTS = {
    "text changed": _("The text was changed and no longer has this page; check it anew."),
    "text": _("The text cannot be read."),
    "no image": _("No image was found for this page."),
    "image gone": _("The image that was given to this page is no longer there; give it another."),
    "image": _("The image is damaged, or not one that can be read."),
    "other page": _("The image shows another page."),
    "engine": _("The recogniser is missing or does not start."),
    "memory": _("There is not enough memory for this page."),
    "store": _("The store cannot be written: the disk may be full."),
    "mistake": _("The server made a mistake; its log says which."),
}
"""Why a page could not be read again, by `proof.checking.recheck.RecheckFault`."""

SERVER_STOPPED = _("The server was stopped before this page was read.")

STATUSES = {
    400: _("The server does not understand the request."),
    403: _("That is not allowed."),
    404: _("Nothing is at this address."),
    405: _("That cannot be done at this address."),
    413: _("The request is too long."),
    429: _("That was tried too often; wait a little."),
}
"""Messages for errors of HTTP requests, by status."""

LOGIN_MESSAGES = {
    "wrong": _("The name or the password is wrong."),
    "wait": _("Too many wrong passwords. Wait %(num)s minutes."),
    "differ": _("The two new passwords differ."),
    "not yours": _("That is not your password."),
}

UNDO_MESSAGES = {
    "back": _("Taken back: %(what)s"),
    "again": _("Done again: %(what)s"),
    "rule": _("%(text)s → %(reading)s: variants here"),
    "lifted": _("%(text)s → %(reading)s: rule lifted"),
    "page": _("%(page)s: %(state)s"),
    "layout": _("%(page)s: layout or image; the page is read again"),
    "many": _("%(num)s decisions, the first: %(what)s"),
}
"""Messages about undo and redo."""

SCRIPT_MESSAGES = {
    "leaveIt": _("Leave that one, take back the one before it"),
    "undo": _("take back"),
    "redo": _("do again"),
    "take": _("take"),
    "takeSuggested": _("take the suggestion"),
    "noImage": RECHECK_FAULTS["no image"],
    "delete": _("delete"),
    "deletes": _("deletes %(text)s"),
    "move": _("move"),
    "moves": _("moves %(text)s"),
    "corrects": _("%(text)s → %(reading)s"),
    "inserts": _("inserts %(reading)s"),
    "typeFirst": _("Type the right reading. To delete the character, use the button or key for that."),
    "really": _("%(detail)s. Is it meant? Enter once more takes it."),
    "standsHere": _("What should be here"),
    "copyReads": _("What the copy reads (empty: nothing)"),
    "restsOn": _("from %(authority)s"),
    "restsOnImage": _("from the image"),
    "nameAuthority": _("No image shows that. Name under A what it rests on."),
    "carriedFrom": _("carried from %(page)s, where %(person)s decided it"),
    "selected": _("%(num)s chosen"),
    "takeAll": _("take the reading"),
    "rule": _("variants here"),
    "lift": _("lift the rule"),
    "hides": _("hides %(num)s"),
    "gone": _("no longer in the text"),
    "withdrawn": _("Places at which decisions were taken back: %(num)s"),
    "decidedSince": _("left, since others decided them afterwards: %(num)s"),
    "readAs": _("read as %(reading)s"),
    "place": _("col. %(column)s, char. %(character)s"),
    "column": _("column %(number)s"),
    "wholePage": _("whole page"),
    "onImage": _("on the image"),
    "nothing": _("nothing"),
    "asText": _("as the text"),
    "asImage": _("as suggested"),
    "otherwise": _("otherwise"),
    "otherForm": _("other form"),
    "aheadYourself": _("You decided here already, in another window: %(verdict)s. This decision was not written."),
    "ahead": _("%(person)s was quicker: %(verdict)s. Your decision was not written."),
    "lookAgain": _("Look again"),
    "close": _("Close"),
    "noneOpen": _("No flag of this page is open any more."),
    "pageProofread": _("The page is proofread"),
    "pageValidated": _("The page is validated"),
    "ownPage": _("You proofread this page; someone else must validate it."),
    "proofreadBy": _("%(person)s proofread this page. Validate it?"),
    "differYou": _("you:"),
    "unsent": _("%(num)s not saved yet: the server does not answer"),
    "silent": _("The server does not answer. Try again."),
    "refused": _("The server refused it: %(detail)s"),
    "reload": _("Reload the page"),
    "done": _("All flags are decided. This is what an export writes:"),
    "doneBlind": _("You have decided all flags. An administrator decides where another reader differs from you."),
    "doneArbitrating": _("No place is left that two people read differently."),
    "listEnds": _("The list ends here."),
    "all": _("all"),
    "left_open": _("Open: %(num)s"),
    "left_unsure": _("Unsure: %(num)s"),
    "left_skipped": _("Skipped: %(num)s"),
    "left_to_mark": _("Pages that nobody proofread yet: %(num)s"),
    "left_to_validate": _("Pages for a second person: %(num)s"),
    "left_problems": _("Open problems: %(num)s"),
    "leftAll": _("%(places)s places to look at"),
    "left": _("%(places)s places to look at, about %(errors)s errors among the others"),
    "willBeWritten": _("An export writes: %(num)s"),
    "notWritten": _("not written: %(num)s"),
    "moreChanges": _("and %(num)s more"),
    "notWrittenFor": _("not written: %(reason)s"),
    "of": _("%(done)s of %(all)s"),
    "pastedTooLong": _("Not pasted: it has %(num)s characters, and %(most)s fit here."),
    "score": _("score"),
    "occurrences": _("Occurrences: %(num)s"),
    "ruleSet": UNDO_MESSAGES["rule"],
    "ruleLifted": UNDO_MESSAGES["lifted"],
    "lookedAt": _("%(looked)s of %(num)s occurrences"),
    "thisGlyph": _("this glyph"),
    "glyphsOf": _("Glyphs transcribed as %(text)s"),
    "noOthers": _("no other in the work"),
    "decidedMany": _("%(num)s decided"),
    "layoutRegion": _("region %(number)s"),
    "layoutMove": _("move region %(number)s"),
    "layoutRule": _("rule %(number)s"),
    "layoutCorner": _("corner %(number)s of the frame"),
    "layoutNote": _("end of a note in column %(number)s"),
    "layoutFound": _("the image that was found"),
    "rereadReading": _("The page is read …"),
    "rereadWaits": _("Other pages are read first …"),
    "rereadFailed": _("The page could not be read: %(detail)s"),
    "layoutAhead": _("%(person)s corrected this page meanwhile. Your correction was not saved."),
    "rereadDone": _(
        "Page read again: %(fresh)s new flags, %(gone)s removed; %(kept)s decisions kept, %(lost)s without a place."
    ),
    "rereadAsked": _("%(person)s has this page read again …"),
    "rereadStop": _("Take it back"),
    "rereadStopping": _("It ends at the next safe place …"),
    "rereadStopped": _("Taken back: the page is as it was. What was set applies when it is read again."),
    "rereadShared": _("%(person)s requested it too, so it is read anyway."),
    "layoutDraft": _("What you drew before is here again; it is not set yet."),
    "layoutElsewhere": _("A layout is drawn on the image that is shown: read the page again with the other one first."),
    "rereadKept": _("The page was read again; this shows it as it was before."),
    "downloadMaking": _("The files are being made …"),
    "downloadReady": _("The files are ready."),
    "downloadFile": _("Download them"),
    "downloadFailed": _("The files could not be made: %(detail)s"),
    "detail": _("Details"),
    "stillSilent": _("The server does not answer; it is asked again …"),
    "imageLoading": _("The image is loading …"),
    "flagsLoading": _("The next flags are loading …"),
    "imageFailed": _("The image cannot be loaded."),
    "tryAgain": _("Try again"),
    "actDecisions": _("decisions"),
    "actPages": _("page states"),
    "actRules": _("rules"),
    "actComments": _("comments"),
    "commentedOn": _("Comments on %(place)s"),
    "assignedTo": _("for %(person)s"),
    "sent": _("Written down."),
    "comment": _("comment"),
    "whatProblem": _("Say what the problem is, and who is to see to it."),
    "lifted": _("rule lifted"),
    "replace": _("replace"),
    "leaveSo": _("leave it"),
    "secondReader": _("%(name)s (reads the image)"),
    "agreeing": _("decided so at %(agreeing)s of %(places)s places"),
    "madeOf": _("With these parts:"),
    "columnEdited": _("Columns edited"),
    "columnBefore": _("A new column before column %(number)s"),
    "columnAfter": _("A new column after column %(number)s"),
    "conflicts": _("%(num)s had been decided by others"),
}


def script_messages(say: Say) -> dict[str, object]:
    """All messages for the scripts, in the language of `say`."""
    return {
        "states": {state: say(message) for state, message in STATES.items()},
        "verdicts": {verdict: say(message) for verdict, message in VERDICTS.items()},
        "commentStates": {state: say(message) for state, message in COMMENT_STATES.items()},
        "pageStates": {state: say(message) for state, message in PAGE_STATES.items()},
        "kinds": {kind.value: say(message) for kind, message in KINDS.items()},
        "moved": say(MOVED_NAME),
        "reasons": {reason: say(message) for reason, message in REASONS.items()},
        **{name: say(message) for name, message in SCRIPT_MESSAGES.items()},
    }
