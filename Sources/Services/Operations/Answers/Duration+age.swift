extension Duration {
    /// A length of time for people, rounded down: `59 s`, `90 min`, `47 h`, `3 d`.
    package var age: String {
        let seconds = self / .seconds(1)
        return switch seconds {
        case ..<60: "\(Int(seconds)) s"
        case ..<7200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3600)) h"
        default: "\(Int(seconds / 86_400)) d"
        }
    }
}
