/** Whether a statement is awaited, awaited with its error swallowed, or left to itself. */
export type Manner = 'await' | 'catch' | 'float'

export type RowWait = 'block' | 'nowait' | 'skip' | { readonly timeoutMs: number }

/** What a step does. `row` is 1 or 2: a rival holds the second, and then wants the first. */
export type Deed =
  | { readonly do: 'write' }
  | { readonly do: 'bump'; readonly row: number }
  | { readonly do: 'fail'; readonly by: 'duplicate' | 'nonsense' }
  | {
      readonly do: 'rows'
      readonly row: number
      readonly mode: 'exclusive' | 'shared'
      readonly wait: RowWait
      readonly savepoint: boolean
    }
  | { readonly do: 'name'; readonly wait: 'block' | 'nowait' | { readonly timeoutMs: number } }
  | { readonly do: 'say'; readonly word: 'commit' | 'rollback' | 'begin' }
  | { readonly do: 'stream'; readonly fails: boolean }
  | { readonly do: 'helper' }
  | { readonly do: 'kill' }
  | { readonly do: 'abort' }
  | { readonly do: 'turn' }
  | { readonly do: 'together'; readonly steps: readonly Step[] }

export type Step = Deed & { readonly manner: Manner }

/** A call of the library, what its work does, and what is done to `tx` when the call is over. */
export interface Body {
  readonly call: 'transaction' | 'withLock'
  readonly options: {
    readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
    readonly lockTimeoutMs?: number
    readonly attempts?: number
  }
  readonly hasRival: boolean
  readonly steps: readonly Step[]
  readonly end: 'return' | 'throw'
  readonly late: readonly Step[]
}

/** The body as the program that a person would have written. */
export function describeBody(body: Body): string {
  const { call, options, hasRival, steps, end, late } = body
  const lines = [
    ...(hasRival ? ['// another transaction holds row 2, and takes row 1 when this one has it'] : []),
    call === 'withLock'
      ? "await locks.withLock(['fuzz', 1], async (tx) => {"
      : 'await locks.transaction(async (tx) => {',
    ...steps.map((step) => `  ${describeStep(step)}`),
    ...(end === 'throw' ? ["  throw new Error('on purpose')"] : []),
    `}, ${JSON.stringify({ ...options, ...(usesAbort(steps) && { signal: 'aborting.signal' }) })})`,
    ...late.map((step) => `${describeStep(step)} // when the call is over`),
  ]
  return lines.join('\n')
}

function usesAbort(steps: readonly Step[]): boolean {
  return steps.some((step) => step.do === 'abort' || (step.do === 'together' && usesAbort(step.steps)))
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
      return step.by === 'duplicate' ? 'insertDuplicate(tx)' : 'sendNonsense(tx)'
    case 'rows': {
      const { row, mode, wait, savepoint } = step
      return `locks.rows(tx, row(${row}), ${JSON.stringify({ mode, wait, savepoint })})`
    }
    case 'name':
      return `locks.lock(tx, ['fuzz', 2], ${JSON.stringify({ wait: step.wait })})`
    case 'say':
      return `send(tx, '${step.word.toUpperCase()}')`
    case 'stream':
      return step.fails ? 'streamThatFails(tx)' : 'stream(tx)'
    case 'helper':
      return 'inTransactionOf(derivedFrom(tx), insert)'
    case 'kill':
      return 'killConnectionOf(tx)'
    case 'abort':
      return "aborting.abort(new Error('on purpose'))"
    case 'turn':
      return 'await setImmediate()'
    case 'together':
      return `Promise.all([${step.steps.map(deedText).join(', ')}])`
  }
}
