import Configuration
import Staff

extension Settings {
    /// `STOREHOOK_FOUR_EYES`: the rules that the staff goes by.
    func staffRules() throws -> StaffRules {
        switch try text("storehook.four.eyes") ?? "no" {
        case "yes": StaffRules(isFourEyes: true)
        case "no": StaffRules()
        default: throw CommandFailure("STOREHOOK_FOUR_EYES: it is yes or no", status: .usage)
        }
    }
}
