import type { Body, Step } from './body.ts'

/** Bodies that are one thing simpler than this one. */
function simpler(body: Body): readonly Body[] {
  const { steps, late, hasRival, hasTwin, network, call, options, end } = body
  return [
    ...fewer(steps).map((less) => ({ ...body, steps: less })),
    ...(late.length > 0 ? [{ ...body, late: [] }] : []),
    ...(hasRival ? [{ ...body, hasRival: false }] : []),
    ...(hasTwin ? [{ ...body, hasTwin: false }] : []),
    ...(network === undefined ? [] : [withoutNetwork(body)]),
    ...(call === 'withLock' && !hasTwin && options.wait === undefined
      ? [{ ...body, call: 'transaction' as const }]
      : []),
    ...(end === 'throw' ? [{ ...body, end: 'return' as const }] : []),
    ...Object.keys(options)
      // without it nothing would end a call on a network that swallows everything
      .filter((name) => name !== 'budgetMs' || network?.how !== 'silent')
      .map((name) => ({ ...body, options: without(options, name) })),
  ]
}

function withoutNetwork({ network: _, ...body }: Body): Body {
  return body
}

function fewer(steps: readonly Step[]): readonly (readonly Step[])[] {
  return steps.flatMap((step, index) => {
    const put = (...others: readonly Step[]): readonly Step[] => steps.toSpliced(index, 1, ...others)
    const inside =
      'steps' in step
        ? [put(...step.steps), ...fewer(step.steps).map((less) => put({ ...step, steps: less }))]
        : []
    return [
      put(),
      ...inside,
      ...(step.manner === 'await' ? [] : [put({ ...step, manner: 'await' as const })]),
    ]
  })
}

function without(options: Body['options'], name: string): Body['options'] {
  return Object.fromEntries(Object.entries(options).filter(([key]) => key !== name))
}

/** The simplest body for which `fails` still holds; each is tried a few times, because races come and go. */
export async function shrink(body: Body, fails: (body: Body) => Promise<boolean>, tries = 3): Promise<Body> {
  for (const candidate of simpler(body)) {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      if (await fails(candidate)) return shrink(candidate, fails, tries)
    }
  }
  return body
}
