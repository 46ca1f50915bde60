/**
 * The tests that look for mistakes in a folder: quick ones that need no server and start no process of their own,
 * because another process runs the code without the mistake. All of them are run for each mistake that they reach.
 */
export const testsOf: Readonly<Record<string, readonly string[]>> = {
  'src/core': [
    'test/core/*.test.ts',
    'test/emit/{facts,golden,meaning,refusals}.test.ts',
    'test/errors/*.test.ts',
  ],
  'src/dialects': [
    'test/emit/{facts,golden,isolation,meaning,quoting,refusals,thresholds}.test.ts',
    'test/errors/{captured,recognition}.test.ts',
    'test/{claims,leases}/statements.test.ts',
  ],
  'src/conformance': ['test/reporters/*.test.ts', 'test/conformance/framework.test.ts'],
  'src/cli': ['test/cli/*.test.ts'],
}
