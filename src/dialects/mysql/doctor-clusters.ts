import { untested } from '../finding-clusters.ts'
import type { SettingRule } from '../finding-settings.ts'

/**
 * Relatives of MySQL, by what their documentation says that they answer.
 *
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/AuroraMySQL.Updates.Versions.html
 * @see https://github.com/vitessio/vitess/pull/7337
 * @see https://dev.mysql.com/doc/refman/8.4/en/mysql-cluster-options-variables.html
 */
export const clusterRules: readonly SettingRule[] = [
  {
    setting: 'aurora_version',
    isAmiss: (value) => value !== '',
    ...untested(
      'aurora',
      'Amazon Aurora',
      'One instance writes, and the others only read: a lock that is taken on a reader excludes nobody.',
    ),
  },
  {
    setting: 'version',
    isAmiss: (value) => /vitess/i.test(value),
    ...untested(
      'vitess',
      'Vitess',
      'Statements go to one or more shards through a proxy, which keeps user locks on a connection of its own.',
    ),
  },
  {
    setting: 'ndb_version_string',
    isAmiss: (value) => value !== '',
    ...untested(
      'ndb',
      'a node of MySQL NDB Cluster',
      'User locks and table locks are known to this node alone, and so are tables of InnoDB, such as that of the leases.',
    ),
  },
]
