import ArgumentParser
import Outbox

/// `--role worker`
extension DatabaseRole: ExpressibleByArgument {}
