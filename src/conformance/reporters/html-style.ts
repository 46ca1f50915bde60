import { features } from '../feature.ts'

/**
 * The look of the page. Filters are boxes and buttons that the browser itself remembers: there is no script.
 *
 * It holds neither `<` nor `&`, so that the page can also be read as XML.
 */
export const style: string = `
:root { color-scheme: light dark; --back: #fff; --card: #f6f8fa; --line: #d0d7de; --text: #1f2328; --dim: #59636e;
  --native: #1a7f37; --stronger: #0b7285; --emulated: #0969da; --refused: #9a6700; --broken: #cf222e; --waits: #bf8700; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0d1117; --card: #161b22; --line: #3d444d; --text: #e6edf3; --dim: #9198a1;
    --native: #3fb950; --stronger: #39c5cf; --emulated: #58a6ff; --refused: #d29922; --broken: #ff6b63; --waits: #e3b341; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.25rem; }
a { color: var(--emulated); }
code, pre, .drawing text { font-family: ui-monospace, monospace; font-size: 0.87em; }
pre { white-space: pre-wrap; margin: 0.5rem 0 0; }
.facts, .says, small { color: var(--dim); }
.facts { margin: 0.25rem 0 0.75rem; font-size: 0.9rem; }
.banner { padding: 0.6rem 0.9rem; border-radius: 6px; border: 1px solid var(--native); font-weight: 600; }
.banner.broken { border-color: var(--broken); }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; overflow-wrap: normal; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; white-space: nowrap; }
thead th { background: var(--card); vertical-align: bottom; white-space: normal; min-width: 7rem; max-width: 16rem; }
thead th small { display: block; font-weight: 400; }
tbody th { font-weight: 400; position: sticky; left: 0; background: var(--back); }
td a { color: inherit; }
.state { font-weight: 600; }
.native, .verdict.holds { color: var(--native); }
.stronger { color: var(--stronger); }
.emulated { color: var(--emulated); }
.refused { color: var(--refused); }
.unsupported, .untested, .not-promised { color: var(--dim); }
td.broken { background: var(--broken); color: var(--back); }
.verdict { font-weight: 600; margin-right: 0.4rem; white-space: nowrap; }
.verdict.broken, .law.broken .reason { color: var(--broken); }
.law.refused, .law.not-promised { color: inherit; }
.law, .notes, .error { border: 1px solid var(--line); border-radius: 6px; background: var(--card); margin: 0.4rem 0;
  padding: 0.45rem 0.8rem; }
.law.broken, .error { border-color: var(--broken); border-left-width: 4px; }
.law:target { outline: 2px solid var(--emulated); }
.law summary { cursor: pointer; }
.reason { margin: 0.5rem 0; white-space: pre-wrap; }
.steps { margin: 0.5rem 0; padding-left: 2rem; font-size: 0.9rem; }
.steps .failed { color: var(--broken); }
.filter { position: absolute; opacity: 0; width: 0; margin: 0; }
.filter + label { display: inline-block; margin: 0.15rem 0.1rem; padding: 0.1rem 0.6rem; border: 1px solid var(--line);
  border-radius: 1rem; color: var(--dim); cursor: pointer; }
.filter:checked + label { color: var(--text); background: var(--card); border-color: var(--emulated); }
.filter:focus-visible + label { outline: 2px solid var(--emulated); }
.drawing { display: block; max-width: none; }
.drawing text { fill: var(--text); font-size: 11px; }
.drawing .tick { fill: var(--dim); }
.drawing .actor { font-weight: 600; }
.lane { fill: var(--back); stroke: var(--line); }
.bar rect { fill: var(--native); fill-opacity: 0.25; stroke: var(--native); }
.bar.waits rect { fill: var(--waits); fill-opacity: 0.12; stroke: var(--waits); stroke-dasharray: 4 3; stroke-width: 1.5; }
.bar.failed rect { fill: var(--broken); stroke: var(--broken); }
.bar.unfinished rect { fill: none; stroke: var(--broken); stroke-dasharray: 1 3; stroke-width: 2; }
@media (max-width: 40rem) { body { padding: 0.6rem; font-size: 14px; } .says { display: block; } }
@media print { .filter + label { display: none; } }
${filterRules()}`

function filterRules(): string {
  const verdicts = ['holds', 'broken', 'refused', 'not-promised'].map(
    (verdict) => `#show-${verdict}:not(:checked) ~ main .law.${verdict}:not(:target) { display: none; }`,
  )
  const byFeature = features.map(
    (feature) =>
      `#only-${feature}:checked ~ main .law:not(.feature-${feature}):not(:target) { display: none; }`,
  )
  return [...verdicts, ...byFeature, ''].join('\n')
}
