/// Why a report cannot be read. Nothing of it is used.
package struct ReportRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The most faults that are kept: a file of many lines must not have a list that is longer still.
    package static let mostFaults = 100

    /// The faults, in the order of their lines; at least one.
    package let faults: [ReportFault]

    /// Refused for these.
    package init(_ faults: [ReportFault]) { self.faults = faults }

    /// Refused as a whole.
    init(_ message: String) { self.init([ReportFault(line: nil, message)]) }

    /// The first of them in one line, and the number of the others.
    package var description: String {
        let first = faults.first?.description ?? "it cannot be read"
        guard faults.count > 1 else { return first }
        return "\(first); and \(faults.count - 1)\(faults.count < Self.mostFaults ? "" : " or") more"
    }
}
