/// Deletes old rows in portions, so that no other transaction waits for long. A thousand portions at most; the next run takes the rest.
package enum Portions {
    private static let size: Int64 = 5000
    private static let most = 1000

    /// Takes portions until one is not full.
    /// - Parameter step: takes a portion of at most so many rows.
    /// - Returns: how many rows were taken.
    package static func repeating(
        isolation: isolated (any Actor)? = #isolation, _ step: (_ portion: Int64) async throws -> Int
    ) async throws -> Int64 {
        var all: Int64 = 0
        for _ in 0..<most {
            let some = try await step(size)
            all += Int64(some)
            if some < Int(size) { break }
        }
        return all
    }
}
