/** Longer ones are sentences. */
const MAX_CHARACTERS = 200;

const GUIDES = "docs|documentation|readme|faq|guides?|guidelines?|wiki|conduct|contributing";
const ISSUES = "issues?|bugs?|reports?|requests?|duplicates?|discussions?";
const CONFIRMATION = new RegExp(
  `^(?:(?:yes|no),? )?(?:${[
    "i(?:['’](?:ve|m|d)| (?:have|am|would|can|did|do|agree|confirm|acknowledge|certify|declare|understand|accept|searched|read|checked|looked|followed|tried|verified|use|know|added|wrote|updated|ran|made|tested|performed|reviewed|linked|included|documented|commented|signed|rebased))\\b",
    "i(?:['’]ll| will) (?:follow|abide|adhere|respect|comply|submit|open|provide|help|be)\\b",
    "by (?:submitting|checking|posting) ",
    "my (?:issue|bug|problem|request|question|pr|pull request|code|changes?|commits?|branch|contribution)\\b",
    "this (?:issue|bug|request) (?:is|has)\\b|the (?:issue|bug|problem|request) (?:is|has|exists|occurs|persists|still)\\b",
    "the (?:provided |linked |minimal )*(?:reproduction|repro) (?:is|has|works)\\b",
    "this (?:(?:issue|feature|change|proposal|suggestion|request) )?(?:would|wouldn['’]t|could be|isn['’]t|is not)\\b",
    "this is (?:not )?an?\\b|(?:this is )?not an? (?:duplicate|support|usage|question)\\b",
    // Of the form for pull requests that most repositories have.
    "(?:new and )?existing (?:unit )?tests pass\\b|any dependent changes\\b",
    // Without a subject, as forms have it.
    `(?:already )?(?:searched|looked|checked|reviewed|verified|confirmed|followed|consulted|using|running|tested with)\\b.*\\b(?:${ISSUES}|${GUIDES}|latest|newest|recent)\\b`,
    `(?:search|check|make sure|ensure)\\b.*\\b(?:existing|already|open|closed|similar)\\b.*\\b(?:${ISSUES})\\b`,
    `(?:read|follow)\\b.*\\b(?:${GUIDES})\\b`,
    "(?:there (?:is|are) )?no (?:duplicate|similar|existing|other) (?:issue|bug|request)",
    "ich (?:habe|bin|stimme|nutze|verwende|bestätige)\\b",
    "j['’]ai |je (?:suis|confirme|comprends|certifie) ",
    "(?:yo )?he (?:buscado|leído|comprobado|verificado|revisado) ",
    "eu (?:pesquisei|procurei|li|verifiquei|concordo|confirmo|sou) |ho (?:cercato|letto|verificato|controllato) ",
    "я (?:искал|проверил|прочитал|согласен|подтверждаю)|我|已(?:经)?(?:搜索|阅读|查|确认|检查)",
    ".*(?:検索|確認|同意)しました。?$|.*読みました。?$|.*(?:검색|확인|동의)했습니다[.]?$|.*읽었습니다[.]?$",
  ].join("|")})`,
  "iu",
);

/** Whether an item is a statement of the person who filed the issue, and nothing to do. */
export function isConfirmation(item: string): boolean {
  return CONFIRMATION.test(item.slice(0, MAX_CHARACTERS));
}

const YES_OR_NO =
  /^(?:yes|no|maybe|not sure|unsure|n\/?a|ja|nein|oui|non|s[íi]|sim|não|да|нет|是|否|はい|いいえ|예|아니오)(?:$|[.,;:(–—]| - )/iu;

/** Whether an item is an answer that one chooses, whatever is asked above it. */
export function isYesOrNo(item: string): boolean {
  return YES_OR_NO.test(item.trim());
}

/** Whether an item is the name of an issue, and nothing else. */
export function isIssueName(item: string): boolean {
  return /^(?:[\w.-]+\/[\w.-]+)?#\d+$|^https?:\/\/\S+$/.test(item.trim());
}

/** Why words are crossed out. Other words behind them are what is to be done in their place. */
const REMARK =
  /^(?:\([^()]*\)[\s.]*$|#\d+[\s.]*$|(?:(?:was |already |has been )?(?:moved|done|fixed|handled|covered|tracked|superseded|replaced|dropped|removed|deferred|postponed)|deprecated|obsolete|duplicate|won['’]?t|wontfix|not|no longer|out of scope)\b)/iu;

/** Whether an item is crossed out as a whole, perhaps with a remark: it is not wanted any more. */
export function isCrossedOut(item: string): boolean {
  const words = item.trim();
  const crossed = /^(~~?)(?!~)[^~]+\1/.exec(words)?.[0];
  if (crossed === undefined) return false;
  const rest = words.slice(crossed.length).replace(/^[\s.,:;→>–—-]+/u, "");
  return rest === "" || REMARK.test(rest.slice(0, MAX_CHARACTERS));
}

const THINGS = "tasks?|items?|steps?|todos?|goals?|requirements?|criteria|criterion";
const PLACEHOLDER = new RegExp(
  `^(?:${[
    "|…|\\.{2,}|-+|_+|tb[dca]|n/?a|none|todo|to do|wip|x{3,}|foo|bar|baz|etc",
    "(?:sub)?[- ]?(?:task|item|step|todo|criterion|requirement|goal)s?(?: (?:\\d+|[a-z]|one|two|three|name|here|description))?",
    // Words that are about the list itself, and nothing else.
    `(?:add|describe|list|insert|your|write|enter|replace|fill in)(?: (?:an?|the|all|any|each|every|some|more|other|further|additional|your|new|of|specific|sub|${THINGS}|here|below|as needed)\\b)+`,
    "(?:add|describe|insert|write|enter|fill in) .*\\bhere",
    "(?:first|second|third|next|another|some|example) (?:task|item|step|todo|criterion)",
    "<[^<>]*>|\\[[^\\]]*\\]|\\{[^}]*\\}",
  ].join("|")})$`,
  "iu",
);
const MAX_PLACEHOLDER = 60;

/** Whether an item is what a template left behind. */
export function isPlaceholder(item: string): boolean {
  if (item.length > MAX_CHARACTERS) return false;
  const words = item
    .replace(/<!--.*?(?:-->|$)/g, "")
    .replace(/^[*_~\s]+|(?<![*_~\s.:!…])[*_~\s.:!…]+$/g, "")
    .trim();
  return words.length <= MAX_PLACEHOLDER && PLACEHOLDER.test(words);
}
