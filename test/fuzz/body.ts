import type { Cut } from '../entries/cutting-proxy.ts'

/** Whether a statement is awaited, awaited with its error swallowed, or left to itself. */
export type Manner = 'await' | 'catch' | 'float'

export type RowWait = 'block' | 'nowait' | 'skip' | { readonly timeoutMs: number }

/** A statement that fails: `ending` is one whose error ends the transaction, where another's does not. */
export type Failing = 'duplicate' | 'nonsense' | 'ending'

/** Where the network breaks, and how. */
export interface Break {
  readonly at: 'commit' | 'rollback'
  readonly how: Cut
}

/** What a step does. `row` is 1 or 2: a rival holds the second, and then wants the first. */
export type Deed =
  | { readonly do: 'write' }
  | { readonly do: 'bump'; readonly row: number }
  | { readonly do: 'fail'; readonly by: Failing }
  | {
      readonly do: 'rows'
      readonly row: number
      readonly mode: 'exclusive' | 'shared'
      readonly wait: RowWait
      readonly savepoint: boolean
    }
  | { readonly do: 'name'; readonly wait: 'block' | 'nowait' | { readonly timeoutMs: number } }
  | { readonly do: 'say'; readonly word: 'commit' | 'rollback' | 'begin' }
  | { readonly do: 'stream'; readonly of: 'rows' | 'locked rows' | 'nonsense' }
  | { readonly do: 'helper' }
  | { readonly do: 'kill' }
  /** So many microtasks later: what the body does next is under way by then. */
  | { readonly do: 'abort'; readonly after: number }
  | { readonly do: 'turn' }
  | { readonly do: 'together'; readonly steps: readonly Step[] }
  /** One of those that are done together, and does one thing after another. */
  | { readonly do: 'sequence'; readonly steps: readonly Step[] }

export type Step = Deed & { readonly manner: Manner }

/** A call of the library, what its work does, and what is done to `tx` when the call is over. */
export interface Body {
  readonly call: 'transaction' | 'withLock'
  readonly options: {
    readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
    readonly lockTimeoutMs?: number
    readonly attempts?: number
    readonly budgetMs?: number
    /** Of the named lock. */
    readonly wait?: { readonly timeoutMs: number }
  }
  readonly hasRival: boolean
  /** Another call wants the same named lock; each takes the next number from a table under it. */
  readonly hasTwin: boolean
  readonly network?: Break
  readonly steps: readonly Step[]
  readonly end: 'return' | 'throw'
  readonly late: readonly Step[]
}

/** The body as the program that a person would have written. */
export function describeBody(body: Body): string {
  const { call, options, hasRival, hasTwin, network, steps, end, late } = body
  const lines = [
    ...(hasRival ? ['// another transaction holds row 2, and takes row 1 when this one has it'] : []),
    ...(hasTwin ? ["void locks.withLock(['fuzz', 1], takeNumber)"] : []),
    ...(network ? [`network.breaks('${network.how}', '${network.at}')`] : []),
    call === 'withLock'
      ? "await locks.withLock(['fuzz', 1], async (tx) => {"
      : 'await locks.transaction(async (tx) => {',
    ...(hasTwin ? ['  await takeNumber(tx)'] : []),
    ...steps.map((step) => `  ${describeStep(step)}`),
    ...(end === 'throw' ? ["  throw new Error('on purpose')"] : []),
    `}, ${JSON.stringify({ ...options, ...(usesAbort(steps) && { signal: 'that is aborted' }) })})`,
    ...late.map((step) => `${describeStep(step)} // when the call is over`),
  ]
  return lines.join('\n')
}

function usesAbort(steps: readonly Step[]): boolean {
  return steps.some((step) => step.do === 'abort' || ('steps' in step && usesAbort(step.steps)))
}

function describeStep(step: Step): string {
  const text = deedText(step)
  if (step.do === 'abort' || step.do === 'turn') return text
  if (step.manner === 'await') return `await ${text}`
  return step.manner === 'catch' ? `await ${text}.catch(() => {})` : `void ${text}.catch(() => {})`
}

function deedText(step: Step): string {
  switch (step.do) {
    case 'write':
      return 'insert(tx)'
    case 'bump':
      return `update(tx, ${step.row})`
    case 'fail':
      return { duplicate: 'insertDuplicate(tx)', nonsense: 'sendNonsense(tx)', ending: 'failAndEnd(tx)' }[
        step.by
      ]
    case 'rows': {
      const { row, mode, wait, savepoint } = step
      return `locks.rows(tx, row(${row}), ${JSON.stringify({ mode, wait, savepoint })})`
    }
    case 'name':
      return `locks.lock(tx, ['fuzz', 2], ${JSON.stringify({ wait: step.wait })})`
    case 'say':
      return `send(tx, '${step.word.toUpperCase()}')`
    case 'stream':
      return `stream(tx, '${step.of}')`
    case 'helper':
      return 'inTransactionOf(derivedFrom(tx), insert)'
    case 'kill':
      return 'killConnectionInFirstAttempt(tx)'
    case 'abort':
      return `abortInMicrotasks(${step.after})`
    case 'turn':
      return 'await setImmediate()'
    case 'together':
      return `Promise.all([${step.steps.map(deedText).join(', ')}])`
    case 'sequence':
      return `(async () => { ${step.steps.map(describeStep).join('; ')} })()`
  }
}
