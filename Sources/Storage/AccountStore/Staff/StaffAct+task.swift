package import Accounts
package import Staff

extension StaffAct.Kind {
    /// The task that the rules know it as.
    package var task: StaffTask {
        switch self {
        case .grant(_, let days): .grant(days: days)
        case .extend(let days): .extend(days: days)
        case .revoke: .revoke
        case .unrevoke: .unrevoke
        case .changeTier: .changeTier
        }
    }
}
