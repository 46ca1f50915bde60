import { describe } from 'vitest'

import { startGroup } from '../engines/group-replication.ts'
import { clusterSpecs } from './specs.ts'

describe('a MySQL group with two primaries', () => {
  clusterSpecs(startGroup)
})
