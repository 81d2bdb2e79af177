import ArgumentParser
import EvidenceStore

/// `--role worker`
extension DatabaseRole: ExpressibleByArgument {}
