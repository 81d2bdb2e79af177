/// A number from 0 on, with zeros before it up to a width.
struct PaddedNumber: CustomStringConvertible {
    let description: String

    init(_ number: Int, _ width: Int) {
        let digits = String(number)
        description = String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
