"""How to install: what can be asked for, and commands to copy.

`INDEX` in a command is an element of its own, in which the page's script puts the page's address.
"""

from dominate.dom_tag import dom_tag
from dominate.tags import code, h2, h3, p, pre, section, span
from packaging.utils import canonicalize_name

from lib.common.program import range_text
from tools.actions.index.downloads import Offer, Offers
from tools.actions.index.markup import Column, Content, inline, table_of
from tools.actions.index.model import Index
from tools.actions.index.selector import Selector

#: What stands for the page's address. Names of projects are in lower case, so none of them holds it.
ADDRESS = "INDEX"


def install_section(index: Index, offers: Offers | None, selector: Selector | None, other: str) -> dom_tag:
    """Return the section on how to install; `other` is the directory of the static index, if there is one."""
    content = [h2("Install"), _address_note(), *_commands(example_requirement(index, offers, selector))]
    if offers is not None:
        content += [*_locked(offers, selector, other), _offers_table(index, offers, selector)]
    return section(*content, id="install")


def example_requirement(index: Index, offers: Offers | None, selector: Selector | None) -> str:
    """Return what to install, for an example: the extras that choose by the machine, else the default target's extra.

    Where nothing has extras it is the first package that no other one requires.
    """
    if offers is None:
        required = {canonicalize_name(one.name) for listed in index.distributions for one in listed.requires}
        roots = [one for one in index.distributions if one.project not in required]
        first = (roots or list(index.distributions))[0]
        return f"{first.project}=={first.version}"
    if choosing := [offer.extra for offer in offers.offers if offer.chooses]:
        return offers.requirement(*choosing)
    return offers.requirement(_default_extra(offers, selector) if selector else "")


def _default_extra(offers: Offers, selector: Selector) -> str:
    default = selector.on(offers.platform).default_target
    return next((target.extra for target in selector.targets if target.name == default), "")


def _commands(requirement: str) -> list[dom_tag]:
    return [
        h3("With pip"),
        command(f'pip install --index-url {ADDRESS}/simple/ "{requirement}"'),
        h3("With uv"),
        command(f'uv pip install --default-index {ADDRESS}/simple/ "{requirement}"'),
    ]


def _locked(offers: Offers, selector: Selector | None, other: str) -> list[dom_tag]:
    """Return how to lock: with the static index, which asks nothing of the machine that locks."""
    if other != "static" or selector is None:
        return []
    requirement = offers.requirement(_default_extra(offers, selector))
    return [
        h3("In a project with a lock file"),
        command(f'uv add --index {ADDRESS}/static/simple/ "{requirement}"'),
        p(
            "A lock file serves other machines, too, so it names a GPU target. The index in ",
            inline(code, "static/"),
            " has the selector as a wheel that chooses nothing.",
        ),
    ]


def _address_note() -> dom_tag:
    return p(inline(code, ADDRESS), " stands for the address of this page, without the last slash.", cls="address-note")


def command(text: str) -> dom_tag:
    """Return a command as a block of its own."""
    parts: list[Content] = []
    for number, part in enumerate(text.split(ADDRESS)):
        if number:
            parts.append(inline(span, ADDRESS, cls="address"))
        parts.append(part)
    return pre(inline(code, *parts))


def _offers_table(index: Index, offers: Offers, selector: Selector | None) -> dom_tag:
    per_target = {target.extra for target in selector.targets} if selector else set()
    shown = [offer for offer in offers.offers if offer.extra not in per_target]
    columns = (Column("Ask for", "name"), Column("Brings"), Column("Download", "size"))
    sizes = f" Sizes are those for {offers.platform}." if len(index.platforms) > 1 else ""
    return table_of(
        f"What can be asked for. Several extras go into one pair of brackets, split by commas.{sizes}",
        columns,
        [
            (_requirement(offers, offer), _brings(offers, offer, selector), range_text(offer.least, offer.most))
            for offer in shown
        ],
    )


def _requirement(offers: Offers, offer: Offer) -> dom_tag:
    return inline(code, f"{offers.front.project}[{offer.extra}]" if offer.extra else str(offers.front.project))


def _brings(offers: Offers, offer: Offer, selector: Selector | None) -> str:
    """Say what an offer brings; the packages of all GPU targets count as one."""
    targets = {target.project for target in selector.on(offers.platform).targets} if selector else set()
    if offer.chooses:
        return ", ".join([*(name for name in offer.brings if name not in targets), "the package for the machine's GPU"])
    if len(targets) > 1 and targets <= set(offer.brings):
        return ", ".join([*(name for name in offer.brings if name not in targets), "the packages of all GPU targets"])
    return ", ".join(offer.brings) or "nothing else"
