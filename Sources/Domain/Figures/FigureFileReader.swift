import Base
import Yams

/// Reads a YAML file of settings for figures, and collects all its faults.
struct FigureFileReader {
    /// The file as a whole.
    let object: StrictObject
    private(set) var faults: [YAMLFault] = []

    /// Reads a file, of at most 1 MiB.
    /// - Parameters:
    ///   - object: the file as a whole.
    ///   - empty: what to write into a file that is empty.
    ///   - body: takes the values of a file that fits the schema, and complains of contradictions.
    /// - Throws: all faults.
    static func read<File: Sendable>(
        _ text: String, _ object: StrictObject, empty: String,
        _ body: @escaping @Sendable (Node, inout FigureFileReader) -> File
    ) throws(FigureFileFault) -> File {
        let (read, faults) = LargeStack.run { () -> (File?, [YAMLFault]) in
            var reader = FigureFileReader(object: object)
            guard let root = reader.root(of: text, empty) else { return (nil, reader.faults) }
            let file = body(root, &reader)
            return (reader.faults.isEmpty ? file : nil, reader.faults)
        }
        guard let read else {
            let sorted = faults.enumerated().sorted {
                ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
            }
            throw FigureFileFault(findings: sorted.map(\.element))
        }
        return read
    }

    private mutating func root(of text: String, _ empty: String) -> Node? {
        do throws(YAMLFault) {
            try YAMLText.refuseAliases(in: text, object.what)
            guard let root = try YAMLText.root(of: text, object.what) else {
                throw YAMLFault(line: nil, message: "it is empty; write \(empty)")
            }
            ValueSchema.strict(object).check(root, object.what, &faults)
            return faults.isEmpty ? root : nil
        } catch {
            faults.append(error)
            return nil
        }
    }

    /// Adds a contradiction.
    mutating func complain(_ node: Node?, _ message: String) {
        guard faults.count < YAMLText.mostFaults else { return }
        faults.append(node.map { YAMLFault($0, message) } ?? YAMLFault(line: nil, message: message))
    }

    // MARK: Values of a file that fits its schema

    /// The entries of a list of the file.
    func nodes(_ root: Node, _ list: String) -> [Node] {
        var reported: [YAMLFault] = []
        return StrictMapping(root, object, faults: &reported)[list]?.sequence.map { Array($0) } ?? []
    }

    /// What the entries of a list of the file say.
    func entries<Entry>(
        _ root: Node, _ list: String, _ object: StrictObject, _ entry: (StrictMapping) -> Entry?
    ) -> [Entry] {
        nodes(root, list).compactMap { node in
            var reported: [YAMLFault] = []
            return entry(StrictMapping(node, object, faults: &reported))
        }
    }
}

extension StrictMapping {
    /// The member `from`.
    var firstDay: CalendarDay? { self["from"]?.scalar.flatMap { CalendarDay($0.string) } }
}

extension StrictObject {
    /// A day of the calendar.
    static let day = SchemaWord(
        "is a day, like 2026-03-15", schema: ["type": "string", "format": "date"]
    ) { CalendarDay($0) != nil }
}
