/** What a heading says about the checkboxes below it. */
export type HeadingKind =
  | "work"
  | "criteria"
  | "tests"
  | "out-of-scope"
  | "waits"
  | "question"
  | "fault"
  | "confirmation"
  | "choice"
  | "other";

/** Longer ones are sentences. */
const MAX_CHARACTERS = 200;
const MAX_WORDS = 8;

/** Without case, emoji, numbers in front and punctuation. */
function wordsOf(heading: string): string {
  return heading
    .slice(0, MAX_CHARACTERS)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^\p{L}\p{M}\p{N}?]+/gu, " ")
    .replace(/^(?:\d+ )+/, "")
    .trim();
}

const either = (words: string): string => words.split(/,\s*|\n\s*/).join("|");
/** The heading is this, with hardly anything beside it. */
const whole = (words: string): RegExp =>
  new RegExp(
    `^(?:(?:the|our|other|possible|known|some) )?(?:${either(words)})(?: (?:list|checklist|items|tasks|work|ideas|goals|improvements|for|of|in|and|or)(?: .*)?)?$`,
    "u",
  );
/** Words that say it wherever they stand. */
const anywhere = (words: string): RegExp => new RegExp(`(?:^| )(?:${either(words)})(?: |\\??$)`, "u");
/** The same for languages that put no spaces between words. */
const within = (words: string): RegExp => new RegExp(either(words), "u");

const KINDS: readonly (readonly [HeadingKind, readonly RegExp[]])[] = [
  [
    "confirmation",
    [
      // "Before submitting to the App Store" is work.
      /(?:^| )before (?:you )?(?:submit|submitting|posting|opening|filing|creating)(?:\??$| (?!(?:to|an?|the|this|your|our|new|any) )| (?:(?:an?|the|this|your|new|any) )+(?:\S+ )?(?:issues?|bugs?|features?|reports?|tickets?|requests?|prs?|questions?|proposals?|discussions?|forms?)(?: |\??$))/u,
      anywhere(`pre ?flight, please confirm, code of conduct, contribut(?:ing|ion) guidelines?
        pre ?submission, submission checklist, issue checklist, viability checklist, bug report checklist, vor dem absenden, avant de soumettre, antes de enviar`),
      whole(
        "prerequisites?, confirm, confirmations?, (?:ai )?acknowledge?ments?, initial checks?, self check, existing issues?, voraussetzungen, please (?:check|verify|ensure|make sure)(?: that| the following)?",
      ),
      /^(?:is|are|have|has|do|does|did|would|will|can|could|may) .*\?$/u,
      within("確認事項, 確認項目, 确认事项, 提交前, 확인 ?사항"),
    ],
  ],
  [
    "out-of-scope",
    [
      anywhere(`out of scope, not in scope, outside (?:of )?(?:the )?scope, (?:non|anti) ?(?:goals?|requirements?|objectives?), not goals?, wont (?:do|fix|have|be done), not planned, not included, not part of, nice to haves?, stretch goals?, alternatives (?:(?:you|i|we)(?:ve| have)? )?considered
        nicht im umfang, nicht teil, nicht enthalten, pas inclus, no incluido, nicht ?ziele, hors périmètre, fuera del? alcance, fora do escopo, fuori ambito, buiten scope, вне рамок`),
      whole(`future, future (?:work|ideas|possibilities|enhancements|features|extensions|considerations|directions|scope|plans?|versions?|releases?), later, for later, not now, optional, bonus, backlog, follow ?ups?, alternatives(?: considered)?
        (?:roll ?back|back ?out|contingency|fall ?back|workaround) (?:plan|steps|procedure|strategy|checklist), (?:related|parent) (?:tasks|issues|work items)
        deferred, postponed, parked, parking lot, icebox, on hold, (?:deferred|postponed|moved|pushed) (?:to|until|till) .*, post mvp, after (?:the )?mvp
        später, zurückgestellt, verschoben, plus tard, reportée?s?, más adelante, aplazad[oa]s?, pospuest[oa]s?, adiad[oa]s?`),
      // "Not done yet" and "do not forget" are work.
      // "Remove what is no longer needed" is work, too.
      /^(?!(?:remove|delete|drop|clean(?: ?up)?|prune|strip|get rid of|avoid|skip|make|mark|deprecate|hide|entfernen?|lösche?n?|supprimer|eliminar|quitar|remover) )(?:.* )?(?:not|no longer) (?:needed|required|necessary|relevant|wanted|planned)(?: |$)/u,
      anywhere(`not (?:covered|doing|changing|our (?:goals?|tasks?|job)), not to (?:do|be done|change|be changed|fix|touch), not in (?:this|the) (?:pr|pull request|issue|release|version|milestone|plan|change)
        no (?:further )?(?:changes?|actions?|tasks?|steps?|work)
        nicht (?:zu tun|geplant|nötig|notwendig|erforderlich|machen|tun|ändern), keine (?:änderung(?:en)?|aufgaben?|schritte)
        (?:ne )?pas (?:à )?faire, (?:da )?non fare, no hacer, não fazer, niet doen, не делать`),
      // With what must not be changed behind it, it is a rule for the work below.
      /(?:^| )(?:do not|dont|must not|should not|shouldnt|will not|wont|does not|doesnt) (?:do|change|touch|fix|include|cover|be (?:done|changed|touched|fixed|included))$/u,
      whole(
        "wont, exclu(?:ded|sions?), unchanged, without changes?, (?:rejected|cancell?ed|dropped|abandoned)(?: (?:tasks|items|ideas))?",
      ),
      within("不在范围, 范围之外, 暂缓, 不做, スコープ外, 対象外, 後回し, やらない, 범위 밖"),
      /^(?!(?:删除|移除|清理|去除|去掉)).*不需要|하지 않(?!.*(?:제거|삭제|정리)$)/u,
    ],
  ],
  // Not its own work, but that of others.
  [
    "waits",
    [
      whole(
        "blocked (?:by|on), blockers?(?! for), depends (?:up)?on, wait(?:s|ing) (?:for|on), hängt ab von, blockiert (?:durch|von)",
      ),
    ],
  ],
  [
    "question",
    [
      whole("(?:open |unresolved )?questions?, offene fragen, questions ouvertes, preguntas abiertas, maybe, perhaps"),
      anywhere("not sure, unsure, undecided, to be (?:decided|discussed), needs? (?:a )?(?:discussion|decision)"),
    ],
  ],
  [
    "fault",
    // Steps that show a fault are nothing to do.
    [
      anywhere(
        "demonstrates the (?:problem|issue|bug), repro, reproduce, reproduction, reproducing, reproduzieren, reproduire, reproducir",
      ),
      whole("(?:actual|current) (?:results?|outcomes?|behaviou?r)"),
    ],
  ],
  [
    "criteria",
    [
      // What others tick before it is merged.
      anywhere(
        "(?:pr|pull request|review|reviewers?|merge|qa|test|testing|contributor|author) checklist, (?:checklist|tasks|todos?|steps|to do) for (?:the )?(?:reviewers?|maintainers?|merging)",
      ),
      anywhere(`(?:acceptance|success|exit|completion|done|validation) criteria, acceptance tests?, success metrics?, non ?functional requirements, definition of done, done when
        akzeptanzkriterien, abnahmekriterien, erfolgskriterien, critères d ?acceptation, critères de succès, criterios de (?:aceptaci[oó]n|éxito), critérios de (?:aceitação|aceite|sucesso), definition of ready
        (?:fertig|erledigt) wenn, (?:done|ready|complete|completed|finished) (?:when|if|means), closing criteria, fertigstellungskriterien
        definition von (?:fertig|erledigt), définition (?:de|du) (?:terminé|fini|fait), fini quand, definición de (?:hecho|terminado|listo), definição de (?:pronto|feito|concluído)
        definizione di (?:fatto|completato|finito), definitie van (?:klaar|gereed), definicja ukończenia, критерии готовности, определение готовности
        criteri di (?:accettazione|successo), acceptatiecriteria, kryteria akceptacji, критерии при[её]мки`),
      whole("acceptance, acs?, criteria, dod, expected (?:results?|outcomes?|behaviou?r)"),
      within(
        "验收标准, 验收条件, 完成的定义, 完成标准, 完成の定義, 受け入れ条件, 受入条件, 完了条件, 完了の定義, 완료 조건, 완료의 정의, 인수 조건",
      ),
    ],
  ],
  // Conditions where they stand alone; among parts of the work, tests are one of those.
  [
    "tests",
    [
      whole(
        "tests?, test (?:cases?|scenarios?), manual test(?:s|ing), testing, qa, verification, validation, (?:manual )?(?:test(?:ing|s)?|qa|verification|validation) (?:plan|steps), (?:how|steps) to (?:test|verify|validate)",
      ),
    ],
  ],
  [
    "choice",
    [
      anywhere(
        "types? of (?:change|issue|request|bug|contribution)s?, (?:issue|change|request|bug|pr) type, kind of (?:change|issue)s?",
      ),
      whole(`operating systems?, os, platforms?, browsers?, environments?, versions?, severity, priority, impact, frequency, reproducibility, regression, area, risk level, possible (?:solutions|approaches)
        (?:browsers?|platforms?|versions?|packages?|components?|os|systems?) affected, tested (?:on|in|with), affects
        affected (?:areas?|components?|packages?|versions?|platforms?|browsers?)
        (?:which|what) (?:area|component|package|platform|browser|version|os)s?`),
      /^(?:which|what) (?:areas?|components?|packages?|platforms?|browsers?|versions?|os)(?: .*)?$/u,
    ],
  ],
];

/** What a heading that says work ends or begins with: "Remaining tasks", "Tasks for the release". */
const WORK =
  either(`todos?, tasks?, sub ?tasks?, sub ?issues?, child (?:tasks|issues), steps, plan, checklist, requirements?, goals, objectives, deliverables, to dos?, todo list, to do list, task list, (?:task|work) breakdown
  action items?, work items?, plan items, implementation, (?:proposed|suggested) (?:changes|fix(?:es)?|solution), (?:required|needed) changes, changes (?:required|needed), remaining work, things to do, to be done, left to do, whats? (?:is )?left, open items, open points, bugs to fix, fixes, scope, in scope, changes
  what (?:needs|has) to (?:be done|happen|change), what (?:should|must) (?:be done|change), needs to be done, what to do
  aufgaben, aufgabenliste, teilaufgaben, schritte, zu erledigen, zu tun, offene punkte, anforderungen, ziele, checkliste, umsetzung
  tâches, liste de tâches, à faire, étapes, objectifs, exigences, tareas, lista de tareas, pasos, por hacer, pendientes, requisitos, objetivos, tarefas, passos, a fazer
  attività, compiti, passi, da fare, obiettivi, requisiti, taken, stappen, te doen, doelen, zadania, kroki, do zrobienia, cele
  задачи, шаги, план, цели, сделать, требования, завдання, görevler, yapılacaklar, adımlar`);
const SAYS_WORK = [
  new RegExp(`(?:^| )(?:${WORK})\\??$`, "u"),
  new RegExp(`^(?:${WORK}) (?:for|to|in|of|by|until|required|remaining|left|für|pour|para|per|для) `, "u"),
  /^(?:todos?|tasks) /u,
  within(
    "任务, 待办, 步骤, 计划, 需求, 目标, 清单, タスク, やること, 手順, 計画, 要件, 目標, チェックリスト, 할 ?일, 작업, 단계, 계획, 목표, 요구 ?사항",
  ),
];
const ONLY_WORK = new RegExp(`^(?:(?:the|our|next|remaining|open|implementation) )*(?:${WORK})$`, "u");

/** Questions of a form, which may be long: "What system are you using?" Those for what is to be done or wanted are none. */
const ASKS_YES_OR_NO = /^(?:is|are|do|does|did|have|has|would|will|can|could|may|should) .*\?$/u;
const ASKS =
  /^(?:which|whats?|how|who|where|when|why) (?!.*\b(?:(?:sub ?)?tasks?|to ?dos?|steps?|chang(?:es?|ed)|work|items?|(?:we|to|be) (?:do|done)|next|left|missing|remain(?:s|ing)?|need(?:s|ed)?|required|fix(?:es|ed)?|implement(?:ed)?|to happen|plan(?:ned)?|improve(?:d|ments)?|involved?|includes?|get there|take|should|shall|must|want(?:ed)?|will be|to (?:be|see|have|add)|added|solution)\b).*\?$/u;

/** "docs: ", "[Feature] " */
const SUBJECT =
  /^\s*(?:\[[^[\]]{1,30}\]|(?:feat(?:ure)?|fix|docs?|chore|tests?|ci|task|story|epic)(?:\([^()]{1,30}\))?:)\s*/i;
/** "Add a code of conduct", "Write acceptance tests". What a form asks of its reader is none of them: "Update it before submitting". */
const MAKES_IT =
  /^(?:add|build|change|create|document|draft|enable|extend|extract|fix|generate|implement|improve|introduce|move|publish|refactor|remove|rename|render|replace|rewrite|show|simplify|store|support|translate|update|write) (?!.*\b(?:your?|before|here)\b)/;
/** What can be made, and is then the subject of the boxes below. */
const CAN_BE_MADE: ReadonlySet<HeadingKind> = new Set(["criteria", "confirmation"]);

/** What the words of a heading or label say. Where several fit, what keeps an item from being worked on comes first. */
export function headingKind(heading: string): HeadingKind {
  const kind = kindWithAsides(heading);
  return CAN_BE_MADE.has(kind) && MAKES_IT.test(wordsOf(heading.replace(SUBJECT, ""))) ? "other" : kind;
}

function kindWithAsides(heading: string): HeadingKind {
  const kind = kindOf(wordsOf(heading));
  // "Which area(s)? (leave empty if unsure)": what is in brackets says more, or only is in the way.
  return kind === "other"
    ? kindOf(wordsOf(heading.slice(0, MAX_CHARACTERS).replace(/\([^()]*\)|\[[^[\]]*\]/g, "")))
    : kind;
}

function kindOf(words: string): HeadingKind {
  if (words === "") return "other";
  if (words.split(" ").length <= MAX_WORDS) {
    for (const [kind, patterns] of KINDS) if (patterns.some((pattern) => pattern.test(words))) return kind;
    if (SAYS_WORK.some((pattern) => pattern.test(words))) return "work";
  }
  return ASKS.test(words) || ASKS_YES_OR_NO.test(words) ? "choice" : "other";
}

/** A title of as many words as these, or of as many letters without spaces, may be the name of a part: "Out of scope", "Definition of done". */
const MAX_PART_NAME = 3;
const MAX_PART_LETTERS = 7;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu;

/** "What system do you use?", "Steps to reproduce the problem" */
const OF_A_FORM = /\b(?:you|your|existing)\b|^(?:how|steps) to /u;

/** Whether a title says what an issue is about, and not what the boxes below it are. Conditions and forms are told by their words, however many. */
export function isAboutAll(title: string): boolean {
  const kind = headingKind(title);
  const words = wordsOf(title);
  const isAsked = OF_A_FORM.test(words) || (kind === "confirmation" && !words.endsWith("?"));
  const isForm = kind === "criteria" || isAsked;
  const letters = words.match(UNSPACED)?.length ?? 0;
  return !isForm && (words.split(" ").length > MAX_PART_NAME || letters > MAX_PART_LETTERS);
}

/** Whether boxes below such a heading may be something to do. */
export function isToDo(kind: HeadingKind): boolean {
  return kind === "work" || kind === "other";
}

/** Whether it says that something is to be done, and nothing about what. */
export function isOnlyWork(heading: string): boolean {
  return ONLY_WORK.test(wordsOf(heading));
}

/** Whether it says tasks, which an author who confirms something does not: what stands below it is to be done, whatever its words. */
export function isTasks(heading: string): boolean {
  return /(?:^| )(?:to ?dos?|(?:sub ?)?tasks?|(?:action|work) items?)(?: list)?$/.test(wordsOf(heading));
}

/** TODO itself, however it is spelt. */
export function isExactTodo(heading: string): boolean {
  return /^to ?dos?$/.test(wordsOf(heading));
}

export function sameHeading(one: string, other: string): boolean {
  return wordsOf(one) === wordsOf(other);
}

/** Whether it puts boxes behind others: those of a text that has no others to do are its work. */
export function isBehindOthers(heading: string): boolean {
  return /^(?:backlog|follow ?ups?)$/.test(wordsOf(heading));
}

/** Whether boxes below such a heading are what the work waits for if they only name other issues: they may be work on dependencies, too. */
export function isDependencies(heading: string): boolean {
  return /^dependenc(?:y|ies)$/.test(wordsOf(heading));
}
