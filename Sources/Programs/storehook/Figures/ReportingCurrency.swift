import ArgumentParser
import Base

/// The currency of a command's answer.
enum ReportingCurrency: ExpressibleByArgument {
    /// Each currency by itself.
    case none
    /// One currency: amounts are converted to it.
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
