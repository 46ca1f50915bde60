import { readdir } from 'node:fs/promises'

import type { Subject } from '../../src/conformance/subject.ts'
import { findDriver } from '../../src/connect/drivers.ts'
import type { DialectName } from '../../src/registry.ts'
import { adaptersOf, subjectOf } from '../../test/conformance/subjects.ts'
import { subjectThrough, type OrmWay } from '../../test/orms/way.ts'

/** A way to one database, through one adapter. */
export interface AdapterWay {
  /** The npm package, or the name of the entry where it can be any. */
  readonly adapter: string
  /** The npm package that is used. */
  readonly package: string
  readonly subject: Subject
}

/** Every way to an engine: its own driver, Kysely, and what a `*-way.ts` of the tests leads through. */
export async function waysTo(engine: DialectName, url: string): Promise<readonly AdapterWay[]> {
  const own = adaptersOf(engine).map((adapter) => {
    const name = adapter === 'driver' ? findDriver(url).name : adapter
    return { adapter: name, package: name, subject: subjectOf(engine, adapter, url) }
  })
  const others = (await foundWays()).filter(({ engines }) => engines.includes(engine))
  return [...own, ...others.map((way) => throughOrm(way, engine, url))]
}

function throughOrm(way: OrmWay, engine: DialectName, url: string): AdapterWay {
  return { adapter: way.name, package: way.package ?? way.name, subject: subjectThrough(way, engine, url) }
}

const tests = new URL('../../test/', import.meta.url)

/** No list names them, so that a new one is run without being entered anywhere. */
async function foundWays(): Promise<readonly OrmWay[]> {
  const files = (await readdir(tests, { recursive: true })).map((file) => file.replaceAll('\\', '/'))
  const modules = await Promise.all(
    files
      .filter((file) => file.endsWith('-way.ts'))
      .toSorted()
      .map((file) => import(new URL(file, tests).href) as Promise<Readonly<Record<string, unknown>>>),
  )
  return modules.flatMap((module) => Object.values(module).filter(isWay))
}

function isWay(value: unknown): value is OrmWay {
  return typeof value === 'object' && value !== null && 'engines' in value && 'connect' in value
}
