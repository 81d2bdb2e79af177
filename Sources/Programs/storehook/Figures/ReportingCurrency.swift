import ArgumentParser
import Base

/// In which currency a command answers.
enum ReportingCurrency: ExpressibleByArgument {
    /// Each currency is by itself.
    case none
    /// All amounts are converted to one.
    case one(String)

    init?(argument: String) {
        if argument == "none" {
            self = .none
        } else if CurrencyCode.isKnown(argument) {
            self = .one(argument)
        } else {
            return nil
        }
    }
}
