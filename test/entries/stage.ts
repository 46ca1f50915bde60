import { afterAll, afterEach, beforeAll, describe } from 'vitest'

import { contextWith, describeEngines, until, type EngineContext } from '../engines/use.ts'
import { counterOf, subjects, type Entry } from './subject.ts'

/** What the specs of one way into the library have, inside tests and hooks. */
export interface Stage extends EngineContext {
  readonly entry: Entry<unknown>
  /** What a connection that does not belong to the library sees. */
  readonly seen: () => Promise<number>
}

/** Runs the specs once for each way into the library and engine. After each test nothing may be left on the engine. */
export function describeEntries(specs: (stage: Stage) => void, except: readonly string[] = []): void {
  for (const { title, engines, connect } of subjects.filter((subject) => !except.includes(subject.title))) {
    describe(title, () => {
      describeEngines((context) => specs(stageOf(context, connect)), { only: engines })
    })
  }
}

function stageOf(context: EngineContext, connect: (url: string) => Promise<Entry<unknown>>): Stage {
  let entry: Entry<unknown> | undefined
  beforeAll(async () => {
    const session = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    await session.close()
    const connected = await connect(context.engine.server.url)
    // makes what the locks need once
    await connected.locks.transaction((tx) => connected.locks.rows(tx, counterOf(context.name)))
    entry = connected
  })
  afterAll(() => entry?.close())
  afterEach(() =>
    until(async () => (await context.engine.leftovers()).length === 0, 'an engine on which nothing is left'),
  )
  return contextWith(context, {
    get entry() {
      if (entry === undefined) throw new Error('the entry is there only inside a test or a hook')
      return entry
    },
    seen: async () => {
      const outsider = await context.engine.open()
      const [row] = await outsider.run(context.kind.sample.read).finally(() => outsider.close())
      return Number(row?.n)
    },
  })
}

/** A promise that a test fulfils. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
}
