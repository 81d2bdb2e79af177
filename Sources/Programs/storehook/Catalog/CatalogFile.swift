import AccountStore
import Accounts
import AppStoreVerification
import Base
import Foundation
import Operations

/// The file that a catalog is in.
enum CatalogFile {
    /// Its text. Of a file that is too long, just enough is read for the parser to refuse it as too long.
    static func read(_ path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure.unreadable(path)
        }
        defer { try? file.close() }
        var data = Data()
        do {
            while data.count <= YAMLText.longest, let more = try file.read(upToCount: 1 << 16), !more.isEmpty {
                data.append(more)
            }
        } catch {
            throw CommandFailure.unreadable(path)
        }
        guard data.count > YAMLText.longest || String(validating: data, as: UTF8.self) != nil else {
            throw CommandFailure("\(path) is not text in UTF-8; save it as UTF-8", status: .usage)
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// What a catalog says otherwise than the current one, leaves out, and names in vain.
    static func contents(
        _ catalog: Catalog, _ store: AccountStore, _ settings: Settings
    ) async throws -> CatalogContents {
        let apps = (try? settings.verifier().apps.keys).map { Set($0) }
        var current: Catalog?
        // A newer release applied it: all that is said is new to this one.
        do { current = try await store.current()?.catalog } catch is UnreadableCatalog {}
        return CatalogContents(
            catalog, after: current, unsold: try await store.unsold(under: catalog),
            apps: apps.flatMap { $0.isEmpty ? nil : $0 })
    }
}
