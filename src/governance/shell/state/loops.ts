import type { ArithmeticExpression, CompoundList, Statement, While } from "unbash";

/** Whether the condition of a loop never ends it. */
export function isEndless({ kind, clause }: While): boolean {
  const [only, ...more] = clause.commands;
  if (!only || more.length > 0) return false;
  const { command } = only;
  if (command.type === "TestCommand") {
    const { expression } = command;
    return kind === "while" && expression.type === "TestUnary" && expression.operand.value !== "";
  }
  if (command.type === "ArithmeticCommand") return kind === "while" && isTrue(command.expression);
  if (command.type !== "Command" || !command.name) return false;
  const name = command.name.value.replace(/^.*\//, "");
  if (kind === "until") return name === "false";
  if (name === "[" || name === "test") return command.args.filter((arg) => arg.text !== "]").length === 1;
  return name === "true" || name === ":";
}

const isTrue = (expression: ArithmeticExpression | undefined): boolean =>
  expression?.type === "ArithmeticWord" && /^[1-9]\d*$/.test(expression.value);

/** Whether each round leaves a process behind: something in the background that the round does not wait for. */
export function startsWithoutEnd(body: CompoundList): boolean {
  let left = false;
  for (const statement of body.commands) {
    if (isPlain(statement, "wait")) left = false;
    else if (isPlain(statement, "disown")) return true;
    else if (statement.background || startsInside(statement)) {
      left = true;
      if (!statement.background) return true;
    }
  }
  return left;
}

function isPlain({ command, background }: Statement, name: string): boolean {
  return !background && command.type === "Command" && command.name?.value === name;
}

/** Somewhere deeper, where a `wait` out here may not reach. */
function startsInside({ command }: Statement): boolean {
  switch (command.type) {
    case "Subshell":
    case "BraceGroup":
      return command.body.commands.some((one) => one.background || startsInside(one));
    case "If":
      return [command.then, ...(command.else ? [command.else] : [])].some(startsWithoutEnd);
    case "AndOr":
    case "Pipeline":
      return command.commands.some((one) => startsInside({ command: one } as Statement));
    default:
      return false;
  }
}
