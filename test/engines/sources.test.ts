import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { EngineKind, Origin, Source, StartedServer } from './engine.ts'
import { namedIn } from './engine-list.ts'
import { describeRefusals, startEngine } from './sources.ts'
import { checkRequired, report, requiredEngines, startNamed } from './start-engines.ts'
import { urlSource } from './url-source.ts'

beforeEach(() => vi.stubEnv('HOLDFAST_ORIGIN', ''))
afterEach(() => vi.unstubAllEnvs())

const closed = (origin: Origin): Source => ({ origin, start: async () => ({ unavailable: 'closed' }) })
const broken = (origin: Origin): Source => ({ origin, start: () => Promise.reject(new Error('broken')) })
const working = (origin: Origin): Source => ({ origin, start: async () => started(origin) })
const started = (origin: Origin): StartedServer => ({
  server: { engine: 'some', version: '1', origin, url: 'some://here' },
  stop: async () => {},
})
const kind = (...sources: Source[]): EngineKind => ({
  name: 'some',
  sources,
  connect: () => Promise.reject(new Error('not connected in this test')),
  sample: { setUp: [], increment: { command: {} }, read: { command: {} }, contests: [] },
})

test('the first way that is open is used, and the others are remembered', async () => {
  const found = await startEngine(kind(closed('container'), broken('installed'), working('download')))
  expect(found.started?.server.origin).toBe('download')
  expect(describeRefusals(found.refusals)).toBe('container: closed; installed: broken')
})

test('a server that was named and does not answer is not replaced by another', async () => {
  vi.stubEnv('HOLDFAST_SOME_URL', 'some://me:secret@nowhere/app')
  const version = (url: string): Promise<string> =>
    Promise.reject(new TypeError('nobody listens', { cause: url }))
  const named = urlSource('HOLDFAST_SOME_URL', { engine: 'some', version })
  const found = await startEngine(kind(named, working('download')))
  expect(found.started).toBeUndefined()
  expect(describeRefusals(found.refusals)).toBe(
    'url: HOLDFAST_SOME_URL is set, but some://nowhere/app does not answer: nobody listens',
  )
})

test('HOLDFAST_ORIGIN leaves only the ways that it names', async () => {
  vi.stubEnv('HOLDFAST_ORIGIN', 'download')
  expect((await startEngine(kind(working('installed'), working('download')))).started?.server.origin).toBe(
    'download',
  )
  expect((await startEngine(kind(working('embedded')))).started?.server.origin).toBe('embedded')
})

test('a name that no engine has is an error that lists the engines', async () => {
  vi.stubEnv('HOLDFAST_REQUIRE', 'postgres,oracle')
  await expect(namedIn('HOLDFAST_REQUIRE')).rejects.toThrow(
    /HOLDFAST_REQUIRE names oracle; the engines are .*postgres/,
  )
})

test.each([',', ' ', ' , ,'])('a list of engines that is %j and names none is a mistake', async (text) => {
  vi.stubEnv('HOLDFAST_REQUIRE', text)
  await expect(requiredEngines()).rejects.toThrow(
    `HOLDFAST_REQUIRE is ${JSON.stringify(text)}, which names none; the engines are duckdb, `,
  )
})

test.each(['', undefined])('a list of engines that is %j asks for nothing', async (text) => {
  vi.stubEnv('HOLDFAST_REQUIRE', text)
  expect(await requiredEngines()).toEqual([])
})

test('a required engine that is missing fails the run with its name and every reason', async () => {
  const start = {
    name: 'some',
    tookMs: 1,
    ...(await startEngine(kind(closed('container'), broken('download')))),
  }
  expect(() => checkRequired(['some'], [start])).toThrow(/some: container: closed; download: broken/)
  expect(() => checkRequired([], [start])).not.toThrow()
})

test.each(['darwin', 'win32'])(
  'on %s no server runs as a process of ours, and the reason says so',
  async (platform) => {
    const all = kind(working('installed'), working('download'), closed('container'))
    const { started: server, refusals } = await startEngine(all, () => true, platform)
    expect(server).toBeUndefined()
    expect(describeRefusals(refusals)).toBe(
      `installed: servers run as processes of ours on Linux only, not on ${platform}; ` +
        `download: servers run as processes of ours on Linux only, not on ${platform}; container: closed`,
    )
    for (const origin of ['url', 'container', 'embedded'] as const)
      expect((await startEngine(kind(working(origin)), () => true, platform)).started?.server.origin).toBe(
        origin,
      )
  },
)

test('an engine whose file does not load is not there, and says why', async () => {
  const start = await startNamed('some', () => Promise.reject(new Error('no native binding')))
  expect(report(start)).toEqual({ name: 'some', reason: 'its driver does not load: no native binding' })
  expect(() => checkRequired(['some'], [start])).toThrow(/some: its driver does not load: no native binding/)
})
