import AppStorePayloads
import ArgumentParser
import Base

/// What every list that is read in pages may be restricted to.
struct ListSelection: ParsableArguments {
    @Option(help: "Apple's name of the environment; all by default.", transform: Environment.argument)
    var environment: Environment?
    @Option(help: "Whose access ends within so many days, 0 to 3650, with nothing to renew it.") var endingWithin: Int?

    func validate() throws { try (0...3650).check(endingWithin, "--ending-within") }
}
