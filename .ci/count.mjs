// Prints `N passed, N failed, N skipped` from vitest's JSON report, behind the words that are given after its path; fails
// when a test failed or none ran.
import { readFileSync } from 'node:fs'

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults
  } catch {
    return []
  }
}

const [path, ...words] = process.argv.slice(2)
const counts = { passed: 0, failed: 0, skipped: 0 }
for (const { status, assertionResults } of read(path)) {
  for (const { status: one } of assertionResults) {
    counts[one === 'passed' || one === 'failed' ? one : 'skipped'] += 1
  }
  // a file that could not be loaded has no tests to count, and counts as one that failed
  if (status === 'failed' && !assertionResults.some((one) => one.status === 'failed')) counts.failed += 1
}
console.log(
  [...words, `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`].join(' '),
)
if (counts.passed === 0 || counts.failed > 0) process.exitCode = 1
