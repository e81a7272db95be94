import { ownValue } from "../kernel/json-fields.ts";
import type { ModuleFile } from "./schema/module-schema.ts";

type WrittenModules = Readonly<Record<string, ModuleFile>>;

/** The file's modules with a preset's laid over them: one without a path changes the file's, any other replaces it. */
export function overlayModules(under: WrittenModules, over: WrittenModules): WrittenModules {
  const changed = Object.entries(over).map(([name, entry]) => {
    const changes = entry.module === undefined ? { ...ownValue(under, name), ...entry } : entry;
    return [name, changes] as const;
  });
  return { ...under, ...Object.fromEntries(changed) };
}

/** The modules that are on: those of the order list first, the others as they are declared. */
export function enabledModules(written: WrittenModules, order: readonly string[] = []) {
  const names = new Set([...order, ...Object.keys(written)]);
  return [...names].flatMap((name) => {
    const { module, enabled = true, config = {}, ...rest } = ownValue(written, name) ?? {};
    return module === undefined || !enabled ? [] : [{ name, module, config, ...rest }];
  });
}
