import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import * as z from "zod";
import { didYouMean } from "../../config/problems/nearest.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";
import { jsonText } from "../render/safe-text.ts";
import { errorData } from "../report-error.ts";
import { askedCall, unknownTool } from "./asked-call.ts";
import { answerData, askedAnswerSchema } from "./explain-answer.ts";
import { type Scene, type SceneOptions, sceneFor } from "./scene.ts";
import { judgeIn, requestIn, verdictData } from "./verdict.ts";

/** More than any call of a tool has that could be allowed. */
const MAX_LINE = 16 * 1024 * 1024;

const text = z.string({ error: "must be a string" });
const questionSchema = z.strictObject(
  {
    tool: text,
    input: z.custom<unknown>((value) => value !== undefined, { error: 'is missing, like {"command": "npm test"}' }),
    role: text.optional(),
    plan: text.optional(),
  },
  { error: ({ code }) => (code === "unrecognized_keys" ? undefined : "must be an object") },
);

type Scenes = (plan: string | undefined, role: string | undefined) => Promise<Scene>;

/** Answers each line of standard input with one line; a line that cannot be answered gets an error, and the next is read. */
export async function explainBatch(call: Call, words: readonly string[], options: SceneOptions): Promise<number> {
  if (words.length > 0)
    throw new PrloomError("usage", "--batch reads calls from standard input", "Leave the tool and its arguments out.");
  const scenes = sceneCache(call);
  const told = new Set<string>();
  const tell = (warning: string): void => {
    if (!told.has(warning)) call.output.note(`note: ${warning}`);
    told.add(warning);
  };
  for await (const line of linesOf(process.stdin)) {
    const answer = await answerTo(line, options, { scenes, tell });
    process.stdout.write(`${jsonText(answer)}\n`);
  }
  return 0;
}

/** A plan is looked at once: its text would otherwise be read for each line. */
function sceneCache(call: Call): Scenes {
  const known = new Map<string, Promise<Scene>>();
  return (plan, role) => {
    const key = JSON.stringify([plan, role]);
    const scene = known.get(key) ?? sceneFor(call, { plan, role });
    known.set(key, scene);
    return scene;
  };
}

interface BatchScenes {
  readonly scenes: Scenes;
  /** Says something once, on standard error. */
  readonly tell: (warning: string) => void;
}

async function answerTo(
  line: string | undefined,
  options: SceneOptions,
  { scenes, tell }: BatchScenes,
): Promise<object> {
  try {
    const value = valueIn(line);
    if (isAboutAnswer(value)) return answerData(checked(value, askedAnswerSchema, ANSWER));
    const question = checked(value, questionSchema, CALL);
    const request = askedCall(question.tool, question.input);
    const scene = await scenes(question.plan ?? options.plan, question.role ?? options.role);
    scene.warnings.forEach(tell);
    const warnings = [...scene.warnings, ...unknownTool(question.tool)];
    return verdictData(judgeIn(scene, requestIn(scene, request)), warnings);
  } catch (error) {
    return { error: errorData(error) };
  }
}

const CALL = {
  name: "a call",
  shape: 'One JSON object on each line: {"tool": "shell", "input": {"command": "npm test"}}',
};
const ANSWER = {
  name: "an answer",
  shape: 'One JSON object on each line: {"answer": "approved", "permission": "write"}',
};

const isAboutAnswer = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "answer" in value && !("tool" in value);

function valueIn(line: string | undefined): unknown {
  if (line === undefined)
    throw new PrloomError("usage", `the line is longer than ${MAX_LINE / 1024 / 1024} MB`, CALL.shape);
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new PrloomError("usage", "the line is not JSON", CALL.shape, error);
  }
}

function checked<S extends z.ZodObject>(value: unknown, schema: S, { name, shape }: typeof CALL): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const [unknown] = issue?.code === "unrecognized_keys" ? issue.keys : [];
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, Object.keys(schema.shape));
    throw new PrloomError("usage", `unknown key "${unknown}"${hint}`, shape);
  }
  const where = issue?.path.join(".") || "it";
  throw new PrloomError("usage", `the line is not ${name}: ${where} ${issue?.message ?? ""}`, shape);
}

/** Lines as they come; undefined stands for one that is too long, which is not kept. */
async function* linesOf(input: Readable): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let length = 0;
  const take = (): string | undefined => {
    const line = length > MAX_LINE ? undefined : parts.join("");
    parts = [];
    length = 0;
    return line;
  };
  const add = (text: string): void => {
    length += text.length;
    if (length > MAX_LINE) parts = [];
    else parts.push(text);
  };
  for await (const chunk of input) {
    const pieces = decoder.write(chunk as Buffer).split("\n");
    for (const piece of pieces.slice(0, -1)) {
      add(piece);
      yield take();
    }
    add(pieces.at(-1) ?? "");
  }
  add(decoder.end());
  if (length > 0) yield take();
}
