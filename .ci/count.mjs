// Prints from vitest's JSON report each test that failed with the first lines of why, and then `N passed, N failed,
// N skipped` behind the words that are given after the report's path; fails when a test failed or none ran.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults
  } catch {
    return []
  }
}

function failed(name, title, message) {
  const reason = (message ?? '').split('\n', 8).join('\n    ')
  return `failed: ${[relative(process.cwd(), name), title, reason].filter(Boolean).join(': ')}`
}

const [path, ...words] = process.argv.slice(2)
const counts = { passed: 0, failed: 0, skipped: 0 }
for (const { name, status, message, assertionResults } of read(path)) {
  for (const { status: one, fullName, failureMessages } of assertionResults) {
    counts[one === 'passed' || one === 'failed' ? one : 'skipped'] += 1
    if (one === 'failed') console.log(failed(name, fullName, failureMessages[0]))
  }
  // a file that could not be loaded has no tests to count, and counts as one that failed
  if (status === 'failed' && !assertionResults.some((one) => one.status === 'failed')) {
    counts.failed += 1
    console.log(failed(name, '', message))
  }
}
console.log(
  [...words, `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`].join(' '),
)
if (counts.passed === 0 || counts.failed > 0) process.exitCode = 1
