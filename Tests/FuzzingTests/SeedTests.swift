import Foundation
import FuzzedReaders
import Testing

/// What deploy/fuzz found or learned, without its sanitizers. A broken promise of a reader traps.
@Suite("The seeds of the fuzzers")
struct SeedTests {
    @Test("are read as each reader promises", arguments: Reader.allCases)
    func seeds(reader: Reader) throws {
        let files = try FileManager.default.contentsOfDirectory(at: reader.seeds, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files.sorted(by: { $0.path < $1.path }) {
            print("\(reader.rawValue) reads \(file.lastPathComponent)")
            reader.read([UInt8](try Data(contentsOf: file)))
        }
    }
}
