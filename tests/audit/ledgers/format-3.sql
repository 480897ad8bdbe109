PRAGMA application_id = 1095978580;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE bodies (seq INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
INSERT INTO "bodies" VALUES(1,'{"after":null,"format":1,"nonce":"2557115cc6bb31390d4ecace23b71273"}');
INSERT INTO "bodies" VALUES(2,'{"public":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"}');
INSERT INTO "bodies" VALUES(3,'{"process":1}');
INSERT INTO "bodies" VALUES(4,'{"agent":"claude","client":null,"code":"print(''hello'')","context":"{}","domains":[],"executable":false,"files":[],"granted":[],"id":"r1","image":"","installed":null,"isolation":"local","known":[],"language":"python","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"most_bytes":0,"network":"none","offset":0,"packages":[],"plan":null,"program":"","protections":[],"received_at":1700000000.0,"sandbox":"","session":0,"stdin":"","title":"Say hello","tool":"code_execute"}');
INSERT INTO "bodies" VALUES(5,'{"findings":[{"capability":"starts processes","evidence":"run(''ls'')","id":"python.subprocess","level":"HIGH","reason":"Why.","reference":"","span":{"column":0,"end_column":9,"end_line":1,"line":1}}],"level":"HIGH","reasons":["It runs code."],"touch":{"credentials":[],"files":["/tmp/a"],"hosts":["example.org"],"packages":[],"processes":[]}}');
INSERT INTO "bodies" VALUES(6,'{"blocked":"","window":60.0}');
INSERT INTO "bodies" VALUES(7,'{"after_seconds":2.5,"by":"person","digest":"0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9","reason":"Fine.","rule":"","verdict":"approved"}');
INSERT INTO "bodies" VALUES(8,'{}');
INSERT INTO "bodies" VALUES(9,'{"contacts":[],"contacts_left_out":0,"curve":[{"at":0.1,"connections":null,"cpu_percent":50.0,"disk_bytes":null,"memory_bytes":1000,"processes":2,"received":null,"sent":null},{"at":0.2,"connections":null,"cpu_percent":null,"disk_bytes":null,"memory_bytes":null,"processes":null,"received":null,"sent":null}],"duration":0.25,"error":"","exit_code":0,"files":[],"files_left_out":"","meta":{"blocked_imports":[],"dropped_stderr":0,"dropped_stdout":0,"image":"","isolation":"local","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"protections":["no network"],"runtime":"local","timed_out":false,"truncated":false,"versions":{"python":"3.11"}},"outcome":"ok","peak_memory":12345678,"stderr":"","stdout":"hello\n","value":{"answer":[42,null,1.5]}}');
INSERT INTO "bodies" VALUES(10,'{}');
INSERT INTO "bodies" VALUES(16,'{"agent":"claude","client":null,"code":"print(''hello'')","context":"{}","domains":[],"executable":false,"files":[],"granted":[],"id":"r3","image":"","installed":null,"isolation":"local","known":[],"language":"python","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"most_bytes":0,"network":"none","offset":0,"packages":[],"plan":null,"program":"","protections":[],"received_at":1700000000.0,"sandbox":"","session":0,"stdin":"","title":"Say hello","tool":"code_execute"}');
INSERT INTO "bodies" VALUES(17,'{"findings":[{"capability":"starts processes","evidence":"run(''ls'')","id":"python.subprocess","level":"HIGH","reason":"Why.","reference":"","span":{"column":0,"end_column":9,"end_line":1,"line":1}}],"level":"HIGH","reasons":["It runs code."],"touch":{"credentials":[],"files":["/tmp/a"],"hosts":["example.org"],"packages":[],"processes":[]}}');
INSERT INTO "bodies" VALUES(18,'{"blocked":"","window":60.0}');
INSERT INTO "bodies" VALUES(19,'{"head":"db43fdbaaa8276cb8f98e8907827d745a6501de9573eb86bdd143bc67b2e0611","key":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8","seq":18,"signature":"2e1f5d7373cedc22b880308513ee57b0f890d1f64a89a7e14f412d69d74e59bfe9aa1f5488c35f7dd72ab0f95450dd7c96aac44915631a620501c9d9b024de09"}');
INSERT INTO "bodies" VALUES(20,'{"process":2}');
INSERT INTO "bodies" VALUES(21,'{"bytes_removed":1067,"entries_removed":5,"facts":"660687ac9ae6cc7adf9682286191890b2cd5b3d6b5cd89a9defe696b0ec2120b","key":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8","requests":[[11,11]],"requests_removed":1,"rule":{"by":"person","chosen":true},"signature":"0e2ed4a337c33b2346bf3055590c76527e71d1e67d7a7e970394c2438739d67336eeb4ea4d556d067ee986d8261fa563dad7a6947f7d1933b8b78d4b2fb4880d"}');
INSERT INTO "bodies" VALUES(22,'{"head":"1f4d4644fe10e1ba1023cacae0da5e2f2377c81cc565ee5f1fecade0dbcf1086","key":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8","seq":21,"signature":"f5c9b77c53ae03bd5e0fbde036956af418cdc90a7ea2db594e0dc1cfeba26e5941fb1d1d27cc7b5b877b2a1e13d9997eec478829a958433b2f68aed388ae8c00"}');
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    request_id TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO "entries" VALUES(1,1795399599894005,'genesis','','84d97fc5f1bd1ee3c5ecbf5a9e74245eb8c2b44f7a33188dbf080e5bded4a598','0000000000000000000000000000000000000000000000000000000000000000','e4544fd6421d34f2436b61f01265929768e65c05dab729ee56fd7ccab19bcd45');
INSERT INTO "entries" VALUES(2,1795399599949342,'key','','0ba2221f13ed035338d10a19aadc8280690190586808747298800a1518e9fb89','e4544fd6421d34f2436b61f01265929768e65c05dab729ee56fd7ccab19bcd45','93d235f08fb7d1ac998faa0423baf8b7cc3a4303e0b57c0a26070132eeb77a7b');
INSERT INTO "entries" VALUES(3,1795399599975911,'opened','','c654f1d4fb7fca5281ee512e3b019933ce340d830b890184c7db2035823978bd','93d235f08fb7d1ac998faa0423baf8b7cc3a4303e0b57c0a26070132eeb77a7b','54d76888efd7f2dc1a1a27da0f42c85d0a4221396717afa73792b87aef636de3');
INSERT INTO "entries" VALUES(4,1795399599993211,'arrived','r1','7d65ffd004318c5dd54d56197fb7c309c242f6196075824506dd7da0d0e81b82','54d76888efd7f2dc1a1a27da0f42c85d0a4221396717afa73792b87aef636de3','541ae5b26f3c604e8c33729f55546463241155f23a51f9fc45a4991c52a12f78');
INSERT INTO "entries" VALUES(5,1795399599998796,'assessed','r1','7b0ebb1fcba1cf810eaca182dca17e19ead3c577a4e837ff90ec794e3da043da','541ae5b26f3c604e8c33729f55546463241155f23a51f9fc45a4991c52a12f78','a85234ba51aceb0a9bdb09167f113b80ee52407511a9721aa45c1f13f20339ca');
INSERT INTO "entries" VALUES(6,1795399600009284,'asked','r1','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','a85234ba51aceb0a9bdb09167f113b80ee52407511a9721aa45c1f13f20339ca','a9ccb030abc8ff43cab31d03a747388c62fc8c97807fcfdd929dd27de343b6bb');
INSERT INTO "entries" VALUES(7,1795399600010202,'approved','r1','797339cf4bcaab94544a8e319572ba6cbc096c476aa8db051d8cb84ffefec9a9','a9ccb030abc8ff43cab31d03a747388c62fc8c97807fcfdd929dd27de343b6bb','7eec86c5b11d6cf9e07c30a00820cac3e350229935b1dff86dc3dfa0b1eb18ba');
INSERT INTO "entries" VALUES(8,1795399600011121,'running','r1','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','7eec86c5b11d6cf9e07c30a00820cac3e350229935b1dff86dc3dfa0b1eb18ba','1c783e2b785d19dcaae9758451149bf2d54447093e66604d3604dbfa1820f42f');
INSERT INTO "entries" VALUES(9,1795399600011890,'finished','r1','8e40ccf6cd0e854b8ae059cdec05c7d7e186000eb9cc01fc2c019ec7d2da24f9','1c783e2b785d19dcaae9758451149bf2d54447093e66604d3604dbfa1820f42f','ae727ad9326fdeef0d4d85008ea3a5a4793eb0877c947981fa0776bd416a8e97');
INSERT INTO "entries" VALUES(10,1795399600031401,'closed','r1','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','ae727ad9326fdeef0d4d85008ea3a5a4793eb0877c947981fa0776bd416a8e97','bbbf1822d0d086861a2d3a2e8bda9c63961c17092c24ce2f769c907f96f1df57');
INSERT INTO "entries" VALUES(11,1795399600032386,'arrived','r2','c637b0fdaeace1b97a819cc6aa0ed5c8a73e56342b1457dfce666f0863cdfabe','bbbf1822d0d086861a2d3a2e8bda9c63961c17092c24ce2f769c907f96f1df57','21d10f23c756a31828c493eeddd51f5b8d2e5456b6e92df437106fe4b5e3551f');
INSERT INTO "entries" VALUES(12,1795399600037143,'assessed','r2','2fd4fbaa6200164cf48e83c4418425053792137d1ca62987081e8d6e11da6145','21d10f23c756a31828c493eeddd51f5b8d2e5456b6e92df437106fe4b5e3551f','219bfda158fa1e4388d5d59a365fd7845cb5c429308b7602cdfe0db4257fd480');
INSERT INTO "entries" VALUES(13,1795399600041065,'asked','r2','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','219bfda158fa1e4388d5d59a365fd7845cb5c429308b7602cdfe0db4257fd480','b738677265b330e2a48fe6f2ec6915b1e1dd76bea567d91c59179e3b8049dd15');
INSERT INTO "entries" VALUES(14,1795399600049253,'denied','r2','a4ae83c5f17bc00b4d625cff56906872dbd28467f792574ae6f804e0be55f276','b738677265b330e2a48fe6f2ec6915b1e1dd76bea567d91c59179e3b8049dd15','609a3f1bcc0b054c14f1eeed7eaa05455aa0166ed7f139f7fadfae7f6410aa7b');
INSERT INTO "entries" VALUES(15,1795399600053099,'closed','r2','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','609a3f1bcc0b054c14f1eeed7eaa05455aa0166ed7f139f7fadfae7f6410aa7b','7dccd843c2dc3bd15e039d08fb85aaf316160adcdc540f6827aae14c7c325636');
INSERT INTO "entries" VALUES(16,1795399600057157,'arrived','r3','2957c67096f204ac2d0191ced59d1e98c44c794fe258ae5a5e4f095d6cb133d2','7dccd843c2dc3bd15e039d08fb85aaf316160adcdc540f6827aae14c7c325636','85f4662f633d646c10873624cd4a2ca738089449c2db3110678005f47a2224e4');
INSERT INTO "entries" VALUES(17,1795399600065203,'assessed','r3','7b0ebb1fcba1cf810eaca182dca17e19ead3c577a4e837ff90ec794e3da043da','85f4662f633d646c10873624cd4a2ca738089449c2db3110678005f47a2224e4','79d911cfbc266a4a61cf3197b2919ef954515a30f11814f2521b84e8d74e3176');
INSERT INTO "entries" VALUES(18,1795399600077155,'asked','r3','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','79d911cfbc266a4a61cf3197b2919ef954515a30f11814f2521b84e8d74e3176','db43fdbaaa8276cb8f98e8907827d745a6501de9573eb86bdd143bc67b2e0611');
INSERT INTO "entries" VALUES(19,1795399600085071,'sealed','','a2fdc7a128119d9ffebd4d27db6e88e2cbe72caeb8469e4db29855d842210085','db43fdbaaa8276cb8f98e8907827d745a6501de9573eb86bdd143bc67b2e0611','719f8db89715144363bdcab3b1670389f178f1aef08444d6c2197fdffebe4331');
INSERT INTO "entries" VALUES(20,1795399601352924,'opened','','49ad0499246b8d67075e6ef8bb6da3b84ec2d8fe346012c456711fc502e643e1','719f8db89715144363bdcab3b1670389f178f1aef08444d6c2197fdffebe4331','84ae9a5031ffd8901a7358db5f547856c90465be6f48e6a8bc92b67aea7f8e96');
INSERT INTO "entries" VALUES(21,1795399602061744,'removed','','c41235c8105f09095cbb70afabc8755ed283ef27f445a836431b8a248d08e1e5','84ae9a5031ffd8901a7358db5f547856c90465be6f48e6a8bc92b67aea7f8e96','1f4d4644fe10e1ba1023cacae0da5e2f2377c81cc565ee5f1fecade0dbcf1086');
INSERT INTO "entries" VALUES(22,1795399602129156,'sealed','','1fe1250cb15789694ba3edcd3fe5e84d4074f6011705acd3fba149db845017ee','1f4d4644fe10e1ba1023cacae0da5e2f2377c81cc565ee5f1fecade0dbcf1086','1087a40133e0369ed8bc6627275201462e39fa4504d30425bf01d11760eea0dc');
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;
INSERT INTO "head" VALUES(1,22,'1087a40133e0369ed8bc6627275201462e39fa4504d30425bf01d11760eea0dc','03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8','be9e9cdbc42eef04e2091aa79a42203c4130964722e3dbe7c720a27d8806dc893f62ec680bf080ff3080d707bcbb3c9cda99d9e33e59c95fd9d476699df8010f');
CREATE TABLE leftovers (place TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (place, name)) STRICT;
CREATE TABLE removed (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT;
INSERT INTO "removed" VALUES(11,11,21);
CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    language TEXT,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    phase TEXT NOT NULL,
    arrived_at REAL NOT NULL,
    level INTEGER,
    asked_at REAL,
    verdict TEXT,
    decider TEXT,
    rule TEXT NOT NULL,
    decided_at REAL,
    waited REAL,
    started_at REAL,
    outcome TEXT,
    exit_code INTEGER,
    duration REAL,
    finished_at REAL,
    finished_seq INTEGER
) STRICT;
INSERT INTO "requests" VALUES(4,'r1','claude','code_execute','python','Say hello','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','closed',1.79539959999321103098e+09,3,1.79539960000928401941e+09,'approved','person','',1.79539960001020193099e+09,2.5,1.79539960001112103467e+09,'ok',0,0.25,1795399600.01189,9);
INSERT INTO "requests" VALUES(11,'r2','claude','code_execute','python','','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','closed',1.79539960003238606455e+09,4,1.79539960004106497761e+09,'denied','person','',1.79539960004925298691e+09,1.0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "requests" VALUES(16,'r3','claude','code_execute','python','Say hello','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','asked',1.79539960005715703962e+09,3,1.79539960007715511326e+09,NULL,NULL,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE INDEX entries_of_the_house ON entries (kind, seq) WHERE request_id = '';
CREATE INDEX requests_by_agent ON requests (agent, seq);
CREATE INDEX requests_by_level ON requests (level, seq);
CREATE INDEX requests_by_verdict ON requests (verdict, seq);
CREATE INDEX requests_by_outcome ON requests (outcome, seq);
CREATE INDEX requests_open ON requests (seq) WHERE phase <> 'closed';
CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'entries are only added at the end'); END;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
CREATE TRIGGER bodies_once BEFORE INSERT ON bodies
WHEN EXISTS (SELECT 1 FROM bodies WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'bodies are never replaced'); END;
CREATE TRIGGER bodies_stay BEFORE UPDATE ON bodies
BEGIN SELECT RAISE(ABORT, 'bodies are never changed'); END;
CREATE INDEX entries_of_request ON entries (request_id, seq);
CREATE INDEX requests_by_time ON requests (arrived_at, seq);
CREATE TRIGGER removed_by_an_entry BEFORE INSERT ON removed WHEN NOT EXISTS (SELECT 1 FROM entries WHERE seq = NEW.seq AND kind = 'removed') BEGIN SELECT RAISE(ABORT, 'an entry has to name what is removed'); END;
CREATE TRIGGER removed_stay BEFORE UPDATE ON removed BEGIN SELECT RAISE(ABORT, 'what was removed stays so'); END;
CREATE TRIGGER removed_remain BEFORE DELETE ON removed BEGIN SELECT RAISE(ABORT, 'what was removed stays so'); END;
CREATE TRIGGER bodies_remain BEFORE DELETE ON bodies WHEN coalesce((SELECT (SELECT last >= requests.seq FROM removed WHERE first <= requests.seq ORDER BY first DESC LIMIT 1) FROM entries JOIN requests ON id = request_id WHERE entries.seq = OLD.seq), 0) = 0 BEGIN SELECT RAISE(ABORT, 'bodies are removed only where an entry says so'); END;
COMMIT;
