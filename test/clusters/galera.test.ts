import { describe } from 'vitest'

import { startGaleraCluster } from '../engines/galera.ts'
import { clusterSpecs } from './specs.ts'

describe('a Galera cluster of two nodes', () => {
  clusterSpecs(startGaleraCluster)
})
