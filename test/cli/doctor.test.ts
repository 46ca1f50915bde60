import { describe, expect, test } from 'vitest'

import { isWell } from '../../src/cli/doctor.ts'
import { queueIn } from '../../src/cli/doctor-queue.ts'
import { renderAttestation, wrap } from '../../src/cli/doctor-render.ts'
import { painterFor } from '../../src/cli/inspect-text.ts'
import type { Attestation, Finding } from '../../src/core/attestation.ts'
import { openUrl, type OpenUrl } from '../../src/connect/open.ts'
import { meet } from '../../src/locks.ts'
import { findDialect, registry, type DialectName } from '../../src/registry.ts'
import { emulated, native, unsupported } from '../../src/core/support.ts'
import { describeEngines } from '../engines/use.ts'
import { cli } from './terminal.ts'

const finding: Finding = {
  id: 'lock-timeout-unlimited',
  severity: 'note',
  title: 'a wait for a lock is unlimited unless the caller sets a limit',
  why: 'A waiter behind a holder that hangs keeps a connection for that long.',
  mend: 'Set wait: { timeoutMs } in each call.',
}

const attestation: Attestation = {
  dialect: 'somebase',
  version: '1.2.3',
  capabilities: [
    {
      capability: 'row-exclusive',
      claimed: native('row'),
      observed: 'holds',
      detail: 'a second transaction was kept out',
      tookMs: 12,
    },
    {
      capability: 'advisory',
      claimed: emulated('name', 'a guard row'),
      observed: 'broken',
      detail: 'two connections held the same name at the same time',
      tookMs: 7,
    },
    {
      capability: 'table',
      claimed: unsupported('there are no table locks', 'a name'),
      observed: 'refused',
      detail: 'there are no table locks',
      tookMs: 0,
    },
    {
      capability: 'lease',
      claimed: native('name'),
      observed: 'untried',
      detail: 'a second connection is needed',
      tookMs: 0,
    },
  ],
  findings: [finding],
  tookMs: 345,
}

const plain = (columns: number): Parameters<typeof renderAttestation>[1] => ({
  columns,
  paint: painterFor(false),
})

describe('what doctor prints', () => {
  test('is a line for each lock and a paragraph for each finding', () => {
    expect(renderAttestation(attestation, plain(200))).toBe(
      [
        'somebase 1.2.3  1 ok, 1 refused, 1 BROKEN, 1 untried, 1 finding, 345 ms',
        '',
        '  ok       row-exclusive  a second transaction was kept out, 12 ms',
        '  BROKEN   advisory       two connections held the same name at the same time (emulated), 7 ms',
        '  refused  table          there are no table locks',
        '  untried  lease          a second connection is needed',
        '',
        'note: a wait for a lock is unlimited unless the caller sets a limit [lock-timeout-unlimited]',
        '    A waiter behind a holder that hangs keeps a connection for that long.',
        '    Fix: Set wait: { timeoutMs } in each call.',
        '',
      ].join('\n'),
    )
  })

  test.each([40, 60, 80, 100])('fits a screen of %i columns', (columns) => {
    const lines = renderAttestation({ ...attestation, version: '1' }, plain(columns))
      .split('\n')
      .slice(1)
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns)
  })

  test('has colours only where they are wanted, and the same words', () => {
    const coloured = renderAttestation(attestation, { columns: 200, paint: painterFor(true) })
    const escape = new RegExp(`${String.fromCodePoint(27)}\\[\\d+m`, 'g')
    expect(coloured).toMatch(escape)
    expect(coloured.replaceAll(escape, '')).toBe(renderAttestation(attestation, plain(200)))
  })

  test('does not let a server write to the terminal', () => {
    const evil = { ...finding, why: `the server says ${String.fromCodePoint(27)}[2J` }
    const text = renderAttestation({ ...attestation, findings: [evil] }, plain(80))
    expect(text).not.toContain(String.fromCodePoint(27))
  })

  test('words that are longer than the screen have lines of their own', () => {
    expect(wrap('a bb cccccc d', 4)).toEqual(['a bb', 'cccccc', 'd'])
    expect(wrap('', 4)).toEqual([''])
  })

  test('is well unless a lock is broken or a finding is an error', () => {
    const well = {
      ...attestation,
      capabilities: attestation.capabilities.filter((one) => one.observed !== 'broken'),
    }
    expect(isWell(attestation)).toBe(false)
    expect(isWell(well)).toBe(true)
    expect(isWell({ ...well, findings: [{ ...finding, severity: 'warning' }] })).toBe(true)
    expect(isWell({ ...well, findings: [{ ...finding, severity: 'error' }] })).toBe(false)
  })
})

describe('holdfast doctor', () => {
  test.each([
    ['jobs:state,run_at', { table: 'jobs', columns: ['state', 'run_at'] }],
    ['a:b: state , id', { table: 'a:b', columns: ['state', 'id'] }],
  ])('--queue %s names a table and its columns', (text, queue) => {
    expect(queueIn(text)).toEqual(queue)
  })

  test.each([
    ['no address', ['doctor'], /name the address/],
    ['two addresses', ['doctor', 'sqlite:a', 'sqlite:b'], /one address at a time/],
    ['a queue without columns', ['doctor', 'sqlite:a', '--queue', 'jobs'], /is not <table:column/],
    ['a queue with an empty column', ['doctor', 'sqlite:a', '--queue', 'jobs:a,'], /is not <table:column/],
    ['an unknown option', ['doctor', 'sqlite:a', '--force'], /--force/],
  ])('given %s, says so, shows the usage and ends with 2', async (_, args, message) => {
    const { text, exitCode } = await cli(args)
    expect(text).toMatch(message)
    expect(text).toContain('holdfast doctor [url]')
    expect(exitCode).toBe(2)
  })

  test.each([
    ['postgres://nobody:secret@127.0.0.1:1/none', 3],
    ['mysql://nobody:secret@127.0.0.1:1/none', 3],
    ['nonsense://secret@127.0.0.1', 2],
  ])('a server that cannot be reached is told without its secret', async (url, ends) => {
    const { output, exitCode } = await cli(['doctor', url])
    expect(exitCode).toBe(ends)
    expect(output).toMatch(/^doctor: /)
    expect(output).not.toContain('secret')
  })
})

const prefixes: Readonly<Record<string, string>> = { sqlite: 'sqlite:', duckdb: 'duckdb:' }

describeEngines((context) => {
  const address = (): string => `${prefixes[context.name] ?? ''}${context.engine.server.url}`

  test('prints each lock and each finding, and ends with 0 when all is well', async () => {
    const { output, exitCode } = await cli(['doctor', address()])
    expect(output).toMatch(/^ {2}ok +row-exclusive /m)
    expect(output).toMatch(/^ {2}ok +lease /m)
    expect(output).not.toMatch(/BROKEN|untried/)
    expect(exitCode).toBe(0)
  })

  test('leaves no table that it made, and keeps one that was there', async ({ skip }) => {
    const { examination } = await registry[context.name as DialectName].tools()
    if (examination.leaseTable === undefined) return skip('its table cannot be dropped safely')
    const inside = async <T>(work: (open: OpenUrl) => Promise<T>): Promise<T> => {
      const open = await openUrl(address(), 2)
      return work(open).finally(open.close)
    }
    const isThere = (): Promise<boolean> =>
      inside(async ({ sessions }) => {
        const session = await sessions.open()
        const rows = await session.run(examination.indexes('_leases'))
        await session.release()
        return rows.length > 0
      })
    expect((await cli(['doctor', address()])).progress).toBe('')
    expect(await isThere()).toBe(false)
    const lease = await inside(({ sessions, dialects }) =>
      meet(sessions, dialects.map(findDialect)).shared.lease('kept', { ttlMs: 60_000, renew: false }),
    )
    expect(lease.fence).toBeGreaterThan(0n)
    await cli(['doctor', address()])
    expect(await isThere()).toBe(true)
  })

  test('--json prints the same as data, and a queue that is not there ends with 1', async () => {
    const { output, exitCode } = await cli(['doctor', address(), '--json', '--queue', "no'where:state,id"])
    const read = JSON.parse(output) as Attestation
    expect(read.dialect).toBe(context.name)
    expect(read.findings[0]).toMatchObject({ id: 'queue-table-missing', severity: 'error' })
    expect(exitCode).toBe(1)
  })
})
