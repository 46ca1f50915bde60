import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, type TestContext } from 'vitest'

import type { Outcome } from '../../src/cli/command.ts'
import { runCli } from '../../src/cli/run.ts'
import { openBrowser } from '../site/browser.ts'

/** A board that runs in this process. */
export interface RunningBoard {
  /** As it was printed. */
  readonly address: string
  /** All that was printed, on both outputs. */
  readonly printed: () => string
  /** Interrupts it, as Ctrl-C does. */
  readonly stop: () => Promise<Outcome>
}

/** Runs `holdfast board` until it has printed its address. Rejects when it ends before. */
export async function startBoard(args: readonly string[]): Promise<RunningBoard> {
  const end = new AbortController()
  let printed = ''
  let tell: (address: string) => void = () => {}
  const address = new Promise<string>((resolve) => (tell = resolve))
  const running = runCli(['board', ...args], {
    write: (text) => {
      printed += text
      tell(text.trim())
    },
    progress: (text) => void (printed += text),
    isInteractive: false,
    isScreen: false,
    hasColour: false,
    columns: 100,
    signal: end.signal,
  })
  const early = running.then(({ text }) => Promise.reject(new Error(`it ended: ${text}`)))
  early.catch(() => {})
  return {
    address: await Promise.race([address, early]),
    printed: () => printed,
    stop: async () => {
      end.abort(new Error('interrupted'))
      const outcome = await running
      printed += outcome.text
      return outcome
    },
  }
}

/** Boards for the tests of one file: what a test leaves running is stopped behind it. */
export async function withBoard<T>(
  args: readonly string[],
  use: (board: RunningBoard) => Promise<T>,
): Promise<T> {
  const board = await startBoard(args)
  try {
    return await use(board)
  } finally {
    await board.stop()
  }
}

/** One browser for the tests of a file. A test asks for it with its own context, and is skipped where there is none. */
export function useBrowser(): (context: TestContext) => Browser {
  let browser: Browser | undefined
  let reason = 'it was not opened'
  beforeAll(async () => {
    const opened = await openBrowser()
    if (!('unavailable' in opened)) browser = opened
    else if ((process.env.HOLDFAST_REQUIRE_EXTRA ?? '') !== '') throw new Error(opened.unavailable)
    else reason = opened.unavailable
  }, 600_000)
  afterAll(() => browser?.close())
  return ({ skip }) => browser ?? skip(reason)
}
