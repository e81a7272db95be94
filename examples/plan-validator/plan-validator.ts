import { definePlugin } from "prloom/plugin";

interface Config {
  /** Sections that every plan has: the heading, and what stands below it in a plan that came without. */
  readonly sections?: Readonly<Record<string, string>>;
}

export default definePlugin<Config>(({ sections = {} }) => ({
  async beforeUpsert(payload, ctx) {
    const known = await ctx.listPlans({ source: payload.source });
    // A later change may leave the title out: what is absent stays as it is.
    if (known.length === 0 && !payload.title?.trim()) {
      return { reject: true, reason: `${payload.source.kind} ${payload.source.id} has no title` };
    }
    if (payload.planMarkdown === undefined) return { proceed: true };
    return { proceed: true, payload: { ...payload, planMarkdown: withSections(payload.planMarkdown, sections) } };
  },
}));

function withSections(text: string, sections: Readonly<Record<string, string>>): string {
  const present = new Set([...text.matchAll(/^## (.+?)[ \t]*$/gm)].map(([, heading]) => heading));
  const missing = Object.entries(sections).filter(([heading]) => !present.has(heading));
  if (missing.length === 0) return text;
  const added = missing.map(([heading, body]) => `## ${heading}\n\n${body}\n`);
  return [`${text.trimEnd()}\n`, ...added].join("\n");
}
