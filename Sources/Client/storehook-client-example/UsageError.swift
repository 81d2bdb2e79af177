/// Why the example was started in a wrong way: one line.
struct UsageError: Error, CustomStringConvertible {
    let description: String
}
