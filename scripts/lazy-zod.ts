/**
 * Stands for zod in the bundles of the CLI. The modules that a command loads describe some thousand schemas, `status` uses a handful,
 * and making them all takes a sixth of its time. Here a schema is what was asked for, and is made when it is used; then the library is loaded, too.
 */
import type * as members from "./zod-members.ts";

type Make = (...args: unknown[]) => object;
type Schema = Record<PropertyKey, unknown>;

/** Methods that give another schema. One that is not named here makes the schema, which only takes time. */
const GIVES_SCHEMA = new Set<PropertyKey>(
  [
    [
      "array",
      "catch",
      "default",
      "describe",
      "exactOptional",
      "exclude",
      "extend",
      "max",
      "min",
      "nullable",
      "optional",
    ],
    [
      "or",
      "partial",
      "positive",
      "prefault",
      "readonly",
      "refine",
      "regex",
      "strict",
      "superRefine",
      "transform",
      "unwrap",
    ],
  ].flat(),
);
const HAS_DEFAULT = Symbol("has a default");

let loaded: Record<string, Make> | undefined;

function zod(): Record<string, Make> {
  // A bundler makes of this what is loaded when it is called, and copies all members at each call.
  loaded ??= require("./zod-members.ts") as Record<string, Make>;
  return loaded;
}

/** What stands for a schema here, and how to make it. */
const schemas = new WeakMap<object, () => Schema>();

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const schemaOf = (value: unknown): unknown => (isObject(value) ? (schemas.get(value)?.() ?? value) : value);

/** The library knows its own schemas by identity: it is given no others, neither alone nor in a list or a shape. */
function given(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(schemaOf);
  const isShape = isObject(argument) && Object.values(argument).some((value) => isObject(value) && schemas.has(value));
  if (!isShape || schemas.has(argument)) return schemaOf(argument);
  return Object.fromEntries(Object.entries(argument).map(([key, value]) => [key, schemaOf(value)]));
}

/** `known`: what can be told about the schema without making it. */
function lazy(make: () => object, known: Schema = {}): object {
  let made: Schema | undefined;
  const schema = (): Schema => {
    made ??= make() as Schema;
    return made;
  };
  const proxy = new Proxy(known, {
    get(_, key) {
      if (key === HAS_DEFAULT || (made === undefined && Object.hasOwn(known, key))) return known[key];
      if (made !== undefined || !GIVES_SCHEMA.has(key)) return schema()[key];
      return (...args: unknown[]) =>
        lazy(() => (schema()[key] as Make)(...args.map(given)), knownAfter(key, args[0], known));
    },
    set: (_, key, value) => Reflect.set(schema(), key, value),
    has: (_, key) => key in schema(),
    getPrototypeOf: () => Reflect.getPrototypeOf(schema()),
  });
  schemas.set(proxy, schema);
  return proxy;
}

function knownAfter(method: PropertyKey, argument: unknown, before: Schema): Schema {
  if (method === "prefault") return { [HAS_DEFAULT]: true };
  return method === "describe" ? { [HAS_DEFAULT]: before[HAS_DEFAULT], description: argument } : {};
}

export const ZodPrefault = {
  [Symbol.hasInstance]: (schema: Schema): boolean => schema[HAS_DEFAULT] === true,
};

const of =
  (name: keyof typeof members, known?: (first: unknown) => Schema): Make =>
  (...args) =>
    lazy(() => (zod()[name] as Make)(...args.map(given)), known?.(args[0]));
const shaped = (shape: unknown): Schema => ({ shape });

const enumOf = of("enum", (options) => ({ options }));

export { enumOf as enum };
export const array = of("array");
export const boolean = of("boolean");
export const custom = of("custom");
export const discriminatedUnion = of("discriminatedUnion");
export const exactOptional = of("exactOptional");
export const int = of("int");
export const iso = {
  datetime: (...args: unknown[]) => lazy(() => (zod().iso as unknown as Record<string, Make>).datetime!(...args)),
};
export const json = of("json");
export const literal = of("literal");
export const looseObject = of("looseObject", shaped);
export const number = of("number");
export const object = of("object", shaped);
export const optional = of("optional");
export const partialRecord = of("partialRecord");
export const preprocess = of("preprocess");
export const record = of("record");
export const strictObject = of("strictObject", shaped);
export const string = of("string");
export const tuple = of("tuple");
export const union = of("union");
export const unknown = of("unknown");
export const prettifyError: Make = (...args) => (zod().prettifyError as Make)(...args);
export const toJSONSchema: Make = (...args) => (zod().toJSONSchema as Make)(...args.map(given));
