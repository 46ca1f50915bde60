import { execFile } from 'node:child_process'
import { describe, expect, test } from 'vitest'

import { reached } from '../../src/core/on-demand.ts'
import { readAnswer, type Statement } from '../../src/core/statement.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { describeEngines } from '../engines/use.ts'
import { cli, program } from './terminal.ts'

describeEngines((context) => {
  test('the printed migration makes what a lease needs, and once more is harmless', async () => {
    const { lease } = registry[context.name as DialectName]
    const [take] = lease.acquire({ name: 'hl:x', owner: 'o', ttlMs: 60_000 })
    const session = await context.engine.open()
    try {
      const statements = statementsIn((await cli(['schema', context.name])).text)
      expect(statements.length).toBeGreaterThan(0)
      if (take !== undefined && 'sql' in take) await expect(session.run(take)).rejects.toThrow(/_leases/)
      for (let round = 1; round <= 2; round += 1) {
        for (const statement of statements) await session.run(statement)
      }
      expect(await answerOf(lease.acquire({ name: 'hl:x', owner: 'o', ttlMs: 60_000 }))).toBe('granted')
      for (const statement of statements) await session.run(statement)
      expect(await answerOf(lease.acquire({ name: 'hl:x', owner: 'p', ttlMs: 60_000 }))).toBe('busy')
    } finally {
      await session.close()
    }

    async function answerOf(list: readonly Statement[]): Promise<string> {
      let answer = 'none'
      for (const statement of list) {
        const rows = await session.run(statement)
        answer = statement.answers === undefined ? 'none' : readAnswer(statement.answers, rows)
      }
      return answer
    }
  })
})

describe('holdfast schema', () => {
  test.each(Object.keys(registry) as DialectName[])(
    'prints for %s what is made on demand',
    async (dialect) => {
      const { text, exitCode } = await cli(['schema', dialect])
      const [comment, ...lines] = text.trimEnd().split('\n')
      expect(exitCode).toBe(0)
      expect(comment).toContain(registry[dialect].title)
      const once = await reached(registry[dialect].once)
      expect(lines).toHaveLength(registry[dialect].lease.schema.length + once.schema.length)
      expect(lines.filter((line) => !line.endsWith(';'))).toEqual([])
    },
  )

  test.each([
    ['nothing', [], /name a command/],
    ['an unknown command', ['lock'], /"lock" is not a command/],
    ['no dialect', ['schema'], /name a dialect/],
    ['an unknown dialect', ['schema', 'oracle'], /"oracle" is not a dialect/],
    ['what every object has', ['schema', 'toString'], /is not a dialect/],
    ['two dialects', ['schema', 'sqlite', 'duckdb'], /one dialect at a time/],
    ['an unknown option', ['schema', '--force', 'sqlite'], /--force/],
  ])('given %s, says so, shows the usage and ends with 2', async (_, args, message) => {
    const { text, exitCode } = await cli(args)
    expect(text).toMatch(message)
    expect(text).toContain('holdfast schema <dialect>')
    expect(exitCode).toBe(2)
  })

  test.each([[['--help']], [['-h']], [['schema', '--help']]])(
    '%j shows the usage and is no error',
    async (args) => {
      const { text, exitCode } = await cli(args)
      expect(text).toMatch(/^Usage:/)
      expect(exitCode).toBe(0)
    },
  )

  test('as a program writes answers to standard output and complaints to standard error', async () => {
    const good = await ended('schema', 'postgres')
    expect(good).toMatchObject({ exitCode: 0, errors: '' })
    expect(good.output).toContain('_leases')
    const bad = await ended('schema', 'oracle')
    expect(bad).toMatchObject({ exitCode: 2, output: '' })
    expect(bad.errors).toContain('not a dialect')
  })
})

/** Reads the text as a script would: a statement is a line. */
function statementsIn(text: string): readonly Statement[] {
  const lines = text.split('\n').filter((line) => line !== '' && !/^(?:--|\/\/)/.test(line))
  return lines.map((line) => {
    const command = /^db\.runCommand\((.*)\);$/.exec(line)?.[1]
    return command === undefined
      ? { sql: line.replace(/;$/, ''), params: [] }
      : { command: JSON.parse(command) as Record<string, unknown> }
  })
}

interface Ended {
  readonly exitCode: number
  readonly output: string
  readonly errors: string
}

async function ended(...args: readonly string[]): Promise<Ended> {
  const main = await program()
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], (_, output, errors) =>
      resolve({ exitCode: child.exitCode ?? -1, output, errors }),
    )
  })
}
