import { mkdtemp, rm } from 'node:fs/promises'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Driver } from './driver.ts'
import { betterSqlite3 } from './drivers/better-sqlite3.ts'
import { duckdb } from './drivers/duckdb.ts'
import { pg } from './drivers/pg.ts'
import { startPostgres } from './embedded/postgres.ts'
import { findDialect } from '../registry.ts'
import { loadDriver } from './load-module.ts'
import { onProcessEnd } from './embedded/process-end.ts'
import { openScratch, subjectOn, type ScratchSubject } from './scratch.ts'

/** The databases that need no server of the user's. */
export interface Embedded {
  readonly subjects: readonly ScratchSubject[]
  readonly leftOut: readonly LeftOut[]
  /** Drops all of them. */
  readonly drop: () => Promise<void>
}

/** An engine that cannot be had on this machine as it is. */
export interface LeftOut {
  readonly title: string
  readonly reason: string
}

/** Opens every engine that can be had without a server, in temporary folders that go with `drop`, or with the process. */
export async function openEmbedded(): Promise<Embedded> {
  const ways = [
    { driver: betterSqlite3, open: () => openFile(betterSqlite3, 'embedded.sqlite') },
    { driver: duckdb, open: () => openFile(duckdb, 'embedded.duckdb') },
    { driver: pg, open: openPostgres },
  ]
  const tried = await Promise.all(
    ways.map(async ({ driver, open }) => {
      try {
        return { subject: await open() }
      } catch (error) {
        const title = driver.dialects.map((name) => findDialect(name).title).join(', ')
        return { leftOut: { title, reason: error instanceof Error ? error.message : String(error) } }
      }
    }),
  )
  const subjects = tried.flatMap(({ subject }) => subject ?? [])
  return {
    subjects,
    leftOut: tried.flatMap(({ leftOut }) => leftOut ?? []),
    drop: async () => {
      const ends = await Promise.allSettled(subjects.map((subject) => subject.drop()))
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
  }
}

async function openFile(driver: Driver, name: string): Promise<ScratchSubject> {
  await loadDriver(driver)
  return inFolder(async (folder) => ({ ...(await openScratch(join(folder, name))), title: titleOf(driver) }))
}

async function openPostgres(): Promise<ScratchSubject> {
  await loadDriver(pg)
  return inFolder(async (folder) => {
    const { url, stop } = await startPostgres(folder)
    return subjectOn({ url, database: 'postgres', drop: stop }, { driver: pg, title: titleOf(pg) })
  })
}

/** A subject that lives in a temporary folder, which goes with it. */
async function inFolder(open: (folder: string) => Promise<ScratchSubject>): Promise<ScratchSubject> {
  const folder = await temporaryFolder()
  try {
    const subject = await open(folder.path)
    const drop = async (): Promise<void> => {
      try {
        await subject.drop()
      } finally {
        await folder.remove()
      }
    }
    return { ...subject, drop }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

function titleOf({ name, dialects }: Driver): string {
  return `${dialects.map((dialect) => findDialect(dialect).title).join(', ')}, embedded, through ${name}`
}

interface TemporaryFolder {
  readonly path: string
  readonly remove: () => Promise<void>
}

async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-verify-'))
  const options = { recursive: true, force: true, maxRetries: 5 }
  const forget = onProcessEnd(() => rmSync(path, options))
  return {
    path,
    remove: async () => {
      await rm(path, options)
      forget()
    },
  }
}
