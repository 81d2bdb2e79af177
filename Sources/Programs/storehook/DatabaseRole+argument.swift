import ArgumentParser
import Postgres

/// `--role worker`
extension DatabaseRole: ExpressibleByArgument {}
