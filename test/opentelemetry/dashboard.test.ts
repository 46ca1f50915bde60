import { readFile } from 'node:fs/promises'

import { expect, test } from 'vitest'

import { metricList } from '../../src/opentelemetry/metric-list.ts'

const file = new URL('../../docs/dashboards/holdfast-grafana.json', import.meta.url)

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
}

const dashboard = JSON.parse(await readFile(file, 'utf8')) as Dashboard
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? [])

/** What Prometheus calls a metric that it is sent by OTLP. */
function asPrometheus({ name, type, options }: (typeof metricList)[keyof typeof metricList]): string {
  const unit = options.unit === 's' ? '_seconds' : ''
  return `${name.replaceAll('.', '_')}${unit}${type === 'counter' ? '_total' : ''}`
}

test('the dashboard shows every metric that there is, and no other', () => {
  const emitted = Object.values(metricList).map(asPrometheus)
  const shown = targets.flatMap(({ expr }) =>
    [...expr.matchAll(/\b(holdfast_\w+)(?=\{)/g)].map(([, name = '']) =>
      name.replace(/_(?:bucket|count|sum)$/, ''),
    ),
  )
  expect([...new Set(shown)].toSorted()).toEqual(emitted.toSorted())
})

test('its queries group by attributes that the metrics have, and its legends name what was grouped by', () => {
  const attributes = [
    'db_system_name',
    'db_collection_name',
    'error_type',
    'holdfast_claim_empty',
    'holdfast_job_outcome',
    'holdfast_lock_kind',
    'holdfast_transaction_outcome',
  ]
  for (const { expr, legendFormat } of targets) {
    const grouped = [...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
    expect(attributes).toEqual(expect.arrayContaining(grouped.filter((name) => name !== 'le')))
    for (const [, name] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(grouped).toContain(name)
  }
})

test('no two of its panels have one number', () => {
  const ids = dashboard.panels.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})
