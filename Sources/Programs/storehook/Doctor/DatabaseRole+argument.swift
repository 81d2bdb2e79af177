public import ArgumentParser
public import Outbox

/// `--role worker`
extension DatabaseRole: ExpressibleByArgument {}
