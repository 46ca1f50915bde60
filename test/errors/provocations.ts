import { existsSync } from 'node:fs'

import { registry, type DialectName } from '../../src/registry.ts'
import type { Provocations } from './scenario.ts'

/** What is known about the dialect's errors; `undefined` where no engine can be had to provoke them. */
async function provocationsOf(dialect: DialectName): Promise<Provocations | undefined> {
  const file = new URL(`./provoke/${dialect}.ts`, import.meta.url)
  if (!existsSync(file)) return undefined
  return ((await import(file.href)) as { default: Provocations }).default
}

/** All dialects whose errors can be provoked. */
export async function allProvocations(): Promise<ReadonlyMap<string, Provocations>> {
  const names = Object.keys(registry) as DialectName[]
  const found = await Promise.all(names.map(async (name) => [name, await provocationsOf(name)] as const))
  return new Map(found.filter((entry): entry is [DialectName, Provocations] => entry[1] !== undefined))
}
