import AppStoreServerAPI
import ArgumentParser

/// Why a renewal date is extended, on the command line.
enum ExtensionReason: String, ExpressibleByArgument, CaseIterable {
    case undeclared
    case customerSatisfaction = "customer-satisfaction"
    case other
    case outage

    var code: ExtendReasonCode {
        switch self {
        case .undeclared: .undeclared
        case .customerSatisfaction: .customerSatisfaction
        case .other: .other
        case .outage: .serviceIssueOrOutage
        }
    }
}
