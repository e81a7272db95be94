import { definePlugin } from "prloom/plugin";

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

interface Config {
  /** On these days nothing is merged. Friday, unless it says otherwise. */
  readonly days?: readonly string[];
  /** Whose midnight counts, such as "Europe/Berlin". That of this machine, unless it says otherwise. */
  readonly timeZone?: string;
}

export default definePlugin<Config>(({ days = ["Friday"], timeZone }) => {
  const unknown = days.find((day) => !WEEKDAYS.includes(day));
  // Thrown here, it stops the start: a policy with a typo in it must not let everything through.
  if (unknown !== undefined) throw new Error(`days: "${unknown}" is none of ${WEEKDAYS.join(", ")}`);
  const weekday = new Intl.DateTimeFormat("en-US", { weekday: "long", ...(timeZone && { timeZone }) });
  return {
    beforeRoute(action, ctx) {
      if (action.payload.type !== "merge") return;
      const today = weekday.format(new Date());
      if (!days.includes(today)) return;
      ctx.markActionHandled();
      ctx.emitComment(action.target, `Not merged: nothing is merged on a ${today} here. Ask again on another day.`);
    },
  };
});
