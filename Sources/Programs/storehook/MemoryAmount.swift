import ArgumentParser

/// An amount of memory on the command line: `268435456`, `256MiB`, `1GiB`, `512M`.
struct MemoryAmount: ExpressibleByArgument {
    /// The amount.
    var bytes: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int] = [
            "": 1, "K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20, "G": 1 << 30, "GiB": 1 << 30,
        ]
        guard let number = Int(digits), let unit = units[argument.dropFirst(digits.count)] else { return nil }
        let (bytes, isOver) = number.multipliedReportingOverflow(by: unit)
        guard !isOver else { return nil }
        self.bytes = bytes
    }
}
